import express from 'express'
import { filledStore, importKit, ready } from './fixtures.mjs'

const { toExpressHandler } = await importKit('express')
const { petStore, tokens } = await filledStore()
const app = express().use(toExpressHandler(petStore))
const server = app.listen(0, '127.0.0.1', () => ready(server.address().port, tokens))
