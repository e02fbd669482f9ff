// libSQL runs the same SQL as D1. These are the methods of a D1 binding that the back end calls.
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
