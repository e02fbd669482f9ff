/** The text of a file. Vite knows `?raw`; `tsup.config.ts` also shortens the text. */
declare module '*?raw' {
  const text: string
  export default text
}
