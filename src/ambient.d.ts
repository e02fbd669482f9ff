/**
 * The types of lru-cache refer to `NodeJS.Timeout`. The core does not use the Node types, so it
 * declares this name itself.
 */
declare namespace NodeJS {
  type Timeout = number
}
