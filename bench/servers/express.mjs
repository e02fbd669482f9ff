import { createServer } from 'node:http'
import express from 'express'
import { toExpressHandler } from 'petstore-kit/express'
import { filledStore, listening } from '../fixtures.mjs'

const { petStore, token } = await filledStore()
const empty = (_req, res) => {
  res.setHeader('Content-Length', 2)
  res.end('ok')
}
listening(createServer(express().use(process.argv[2] === 'empty' ? empty : toExpressHandler(petStore))), token)
