export interface SampledRequest {
  readonly method: string
  /** The absolute URL. */
  readonly url: string
  /** The headers to send, without `Authorization`: the sample adds it if `hasToken` is true. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty if the request has no body. */
  readonly body: string
  readonly hasToken: boolean
  /** The token; `undefined` to read it from the variable {@link KEY_VARIABLE}. */
  readonly token?: string | undefined
}

/** The variable from which samples read the API key. `PETSTORE_KEY` would set the flag `--key`. */
export const KEY_VARIABLE = 'PETSTORE_API_KEY'

const samples = { curl: curlSample, fetch: fetchSample, Python: pythonSample, Go: goSample }

export type Language = keyof typeof samples

export const LANGUAGES = Object.keys(samples) as readonly Language[]

/** Returns a program that sends the request and prints the status and body of the response. */
export function sampleOf(language: Language, request: SampledRequest): string {
  return samples[language](request)
}

/**
 * Characters that a sample must escape. In a pasted text, control characters can run commands in a
 * terminal, and marks for the direction of writing make code look like other code. Go forbids
 * U+FEFF.
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u

/** Not every shell knows `$'…'` (POSIX.1-2024), so it is used only for unsafe characters. */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  if (!UNSAFE.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  const escaped = text.replace(/[\\'\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    // U+FFFD replaces U+0000, which no word of a shell can contain.
    [...new TextEncoder().encode(character === '\0' ? '\ufffd' : character)].map(octal).join(''),
  )
  return `$'${escaped}'`
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}

export function javascriptQuoted(text: string): string {
  return quoted(text, (code) => `\\u{${code}}`)
}

/** Returns a string literal that is valid in Python and in Go. */
export function literalQuoted(text: string): string {
  return quoted(text, (code) => `\\U${code.padStart(8, '0')}`)
}

/** @param beyond - writes a character above U+FFFF as an escape, from its hexadecimal code */
function quoted(text: string, beyond: (code: string) => string): string {
  const escaped = text.toWellFormed().replace(/["\\\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`
    if (character === '\n') return '\\n'
    const code = character.codePointAt(0)?.toString(16) ?? ''
    return code.length > 4 ? beyond(code) : `\\u${code.padStart(4, '0')}`
  })
  return `"${escaped}"`
}

function curlSample({ method, url, headers, body, hasToken, token }: SampledRequest): string {
  const bearer = (text: string) => `Authorization: Bearer ${text}`
  const authorization = token === undefined ? `"${bearer(`$${KEY_VARIABLE}`)}"` : shellQuoted(bearer(token))
  const isUsual = method === (body === '' ? 'GET' : 'POST')
  const words = [
    // With -X HEAD, curl would wait for a body.
    method === 'HEAD' ? 'curl -I' : 'curl -i',
    ...(isUsual || method === 'HEAD' ? [] : [`-X ${shellQuoted(method)}`]),
    // Without -g, curl replaces brackets and braces in a URL.
    ...(/[[\]{}]/.test(url) ? ['-g'] : []),
    ...(hasToken ? [`-H ${authorization}`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    // With --data, curl would read a file if the body begins with an at sign.
    ...(body === '' ? [] : [`--data-raw ${shellQuoted(body)}`]),
    shellQuoted(url),
  ]
  return words.join(words.join(' ').length > 80 ? ' \\\n  ' : ' ')
}

function fetchSample({ method, url, headers, body, hasToken, token }: SampledRequest): string {
  const bearer =
    token === undefined ? `\`Bearer \${process.env.${KEY_VARIABLE}}\`` : javascriptQuoted(`Bearer ${token}`)
  const fields = [
    ...(hasToken ? [`Authorization: ${bearer}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${javascriptQuoted(name)}: ${javascriptQuoted(value)}`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${javascriptQuoted(method)},\n`]),
    ...(fields.length === 0 ? [] : [`  headers: {\n${fields.map((field) => `    ${field},\n`).join('')}  },\n`]),
    ...(body === '' ? [] : [`  body: ${javascriptQuoted(body)},\n`]),
  ]
  const argument = options.length === 0 ? '' : `, {\n${options.join('')}}`
  return `const response = await fetch(${javascriptQuoted(url)}${argument})
console.log(response.status, await response.text())`
}

function pythonSample({ method, url, headers, body, hasToken, token }: SampledRequest): string {
  const bearer = token === undefined ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : literalQuoted(`Bearer ${token}`)
  const fields = [
    ...(hasToken ? [`"Authorization": ${bearer}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${literalQuoted(name)}: ${literalQuoted(value)}`),
  ]
  return `${hasToken && token === undefined ? 'import os\n' : ''}import urllib.error
import urllib.request

request = urllib.request.Request(
    ${literalQuoted(url)},
    method=${literalQuoted(method)},
    headers={${fields.length === 0 ? '' : `\n${fields.map((field) => `        ${field},\n`).join('')}    `}},
${body === '' ? '' : `    data=${literalQuoted(body)}.encode(),\n`})
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())`
}

function goSample({ method, url, headers, body, hasToken, token }: SampledRequest): string {
  const bearer = token === undefined ? `"Bearer "+os.Getenv("${KEY_VARIABLE}")` : literalQuoted(`Bearer ${token}`)
  const isVariable = hasToken && token === undefined
  const imports = ['fmt', 'io', 'net/http', ...(isVariable ? ['os'] : []), ...(body === '' ? [] : ['strings'])]
  const lines = [
    ...(hasToken ? [`request.Header.Set("Authorization", ${bearer})`] : []),
    ...Object.entries(headers).map(
      ([name, value]) => `request.Header.Set(${literalQuoted(name)}, ${literalQuoted(value)})`,
    ),
  ]
  const reader = body === '' ? 'nil' : `strings.NewReader(${literalQuoted(body)})`
  return `package main

import (
${imports.map((name) => `\t"${name}"\n`).join('')})

func main() {
	request, err := http.NewRequest(${literalQuoted(method)}, ${literalQuoted(url)}, ${reader})
	if err != nil {
		panic(err)
	}
${lines.map((line) => `\t${line}\n`).join('')}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(body))
}`
}
