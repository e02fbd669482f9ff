/** Named by the types of lru-cache; the core itself knows no Node types. */
declare namespace NodeJS {
  type Timeout = number
}
