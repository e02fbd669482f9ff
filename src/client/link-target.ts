/**
 * Matches one parameter of a link, such as `; rel=next` or `; title="x, y"`. No backtracking: each
 * text matches in one way.
 */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<]+)\s*)?(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"<]*)))?/y

/**
 * Returns the target of the link with a relation such as `next` (RFC 8288, section 3), in linear
 * time.
 */
export function linkTarget(link: string, relation: string): string | undefined {
  for (let position = 0; ; ) {
    const start = link.indexOf('<', position)
    const end = link.indexOf('>', start)
    if (start === -1 || end === -1) return undefined
    position = end + 1
    for (;;) {
      PARAMETER.lastIndex = position
      const [text = '', name = '', quoted, plain = ''] = PARAMETER.exec(link) ?? []
      if (text === '') break
      position += text.length
      const relations = (quoted ?? plain).toLowerCase().split(/\s+/)
      if (name.toLowerCase() === 'rel' && relations.includes(relation)) return link.slice(start + 1, end)
    }
  }
}
