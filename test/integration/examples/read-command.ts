/** Reads the curl command that each example of a server prints. */
export function readCommand(line: string): { token: string; url: string } | undefined {
  const [, token, url] = /^curl -H 'Authorization: Bearer (.*)' (.*)$/.exec(line) ?? []
  return token && url ? { token, url } : undefined
}
