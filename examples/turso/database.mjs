// libSQL runs the same SQL as D1. This function returns an object with the methods that the back end calls on a D1 binding.
export function databaseOf(client) {
  const statement = (sql, args = []) => ({
    sql,
    args,
    bind: (...values) => statement(sql, values),
    all: async () => ({ results: (await client.execute({ sql, args })).rows }),
  })
  return {
    prepare: (sql) => statement(sql),
    batch: async (statements) => (await client.batch(statements, 'write')).map(({ rows }) => ({ results: rows })),
  }
}
