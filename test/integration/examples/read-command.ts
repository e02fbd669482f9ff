/** Returns the token and the URL from the curl command that each server example prints. */
export function readCommand(line: string): { token: string; url: string } | undefined {
  const [, token, url] = /^curl -H 'Authorization: Bearer (.*)' (.*)$/.exec(line) ?? []
  return token && url ? { token, url } : undefined
}
