/** An app in `examples/apps`. */
interface AppHost {
  readonly title: string
  /** The package whose version the table shows. */
  readonly framework: string
  /** The rows that the host cannot pass, with the reason. */
  readonly limits?: Readonly<Record<string, string>>
}

/** The apps, by their folder. */
export const hosts: Readonly<Record<string, AppHost>> = {
  next: {
    title: 'Next.js',
    framework: 'next',
    limits: { 'ignores one trailing slash': 'Next.js redirects a path with two slashes, such as `/v1/pets//`' },
  },
  hapi: { title: 'Hapi', framework: '@hapi/hapi' },
}
