import express from 'express4'
import { shop } from './express.mjs'

shop(express, '/*')
