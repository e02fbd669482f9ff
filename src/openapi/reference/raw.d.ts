/** The text of a file. Vite reads `?raw` by itself; `tsup.config.ts` does the same for the build, and makes the text shorter. */
declare module '*?raw' {
  const text: string
  export default text
}
