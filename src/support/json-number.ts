/** The text of a JSON number that is not an int64. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
