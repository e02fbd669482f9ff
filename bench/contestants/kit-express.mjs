import express from 'express'
import { filledStore, importKit, ready } from './fixtures.mjs'

const { toExpressHandler } = await importKit('express')
const { petStore, tokens } = await filledStore()
const empty = (_req, res) => {
  res.setHeader('Content-Length', 2)
  res.end('ok')
}
const app = express().use(process.argv[2] === 'empty' ? empty : toExpressHandler(petStore))
const server = app.listen(0, '127.0.0.1', () => ready(server.address().port, tokens))
