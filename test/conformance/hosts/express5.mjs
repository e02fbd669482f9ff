import express from 'express'
import { shop } from './express.mjs'

shop(express, '/{*path}')
