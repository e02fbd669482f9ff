/** An app in `examples/apps`. */
export interface AppHost {
  readonly title: string
  /** The npm package whose version the table of `docs/mounting.md` shows. */
  readonly framework: string
  /** The titles of the tests that the host cannot pass, each with the reason. */
  readonly limits?: Readonly<Record<string, string>>
}

const REDIRECT = 'the framework redirects a path with two slashes, such as `/v1/pets//`'
const PARSERS =
  'the body parsers of the framework run first, and respond with 400 or 415 in HTML to malformed JSON, to JSON that is no object, and to other charsets and codings'

/** The apps, by their folder. */
export const hosts: Readonly<Record<string, AppHost>> = {
  next: {
    title: 'Next.js',
    framework: 'next',
    limits: { 'ignores one trailing slash': REDIRECT },
  },
  'nest-express': { title: 'NestJS, on Express', framework: '@nestjs/core' },
  'nest-fastify': { title: 'NestJS, on Fastify', framework: '@nestjs/core' },
  'react-router': { title: 'React Router', framework: 'react-router' },
  sveltekit: { title: 'SvelteKit', framework: '@sveltejs/kit' },
  astro: {
    title: 'Astro',
    framework: 'astro',
    limits: { 'ignores one trailing slash': REDIRECT },
  },
  nuxt: { title: 'Nuxt', framework: 'nuxt' },
  nitro: { title: 'Nitro', framework: 'nitro' },
  lambda: { title: 'AWS Lambda, with a local server instead of AWS', framework: '@types/aws-lambda' },
  vercel: { title: 'Vercel Functions, with srvx instead of Vercel', framework: 'srvx' },
  netlify: { title: 'Netlify Functions, with srvx instead of Netlify', framework: 'srvx' },
  'google-functions': {
    title: 'Google Cloud Functions',
    framework: '@google-cloud/functions-framework',
    limits: {
      'responds to GET with a body': PARSERS,
      'rejects malformed JSON with 400': PARSERS,
      'rejects a body that is not an object, and a blank name': PARSERS,
      'accepts only JSON in UTF-8; the 415 has the header Accept': PARSERS,
      'rejects a content coding with 415 and Accept-Encoding': PARSERS,
      'finishes a request in flight at SIGTERM':
        'at SIGTERM, the framework responds with 500 to running requests and ends',
    },
  },
  hapi: { title: 'Hapi', framework: '@hapi/hapi' },
}
