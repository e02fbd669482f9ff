// node examples/form.mjs
// Checks the fields of a form with the rules of the pet store, in a browser or on a server, and shows each message at its field.
import { createNewPetSchema } from 'petstore-kit/schemas'

const schema = createNewPetSchema({ maxNameLength: 20, defaultStatus: 'pending' })

/** Returns the animal of a form, or the message of each wrong field. */
async function readForm(form) {
  const category = form.get('categoryId')
  const { value, issues } = await schema['~standard'].validate({
    name: form.get('name'),
    // A field of a form is text. Only whole numbers become a `bigint`; the schema rejects any other text.
    categoryId: /^-?\d+$/.test(category) ? BigInt(category) : category,
    status: form.get('status') || undefined,
  })
  if (issues) return { messages: Object.fromEntries(issues.map(({ path, message }) => [path.join('.'), message])) }
  return { animal: value }
}

function formWith(fields) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

console.log(await readForm(formWith({ name: 'Rex', categoryId: '9007199254740993', status: '' })))
console.log(await readForm(formWith({ name: ' ', categoryId: 'dogs', status: 'lost' })))
