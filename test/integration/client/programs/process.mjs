import { callRedirected } from './redirected.mjs'

console.log(JSON.stringify(await callRedirected(process.env.BASE_URL)))
