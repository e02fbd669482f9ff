// `[...path].ts` does not match `/v1` itself.
export { default } from './[...path]'
