import { createServer } from 'node:http'
import { toNodeHandler } from 'petstore-kit/node'
import { LIMITS, listening, PETS, pageText, petText } from '../fixtures.mjs'
const list = pageText(20)
const rl=['X-RateLimit-Limit', String(LIMITS.perMinute), 'X-RateLimit-Remaining', '999999999', 'X-RateLimit-Reset', '1795251060']
const A={status:200,headers:['Content-Type', 'application/json','Link', '</v1/pets?cursor=MToyMA>; rel="next"',...rl],body:list}
const B={status:201,headers:['Content-Type', 'application/json',...rl],body:petText(5)}
listening(createServer(toNodeHandler({basePath:'/v1',handle:async(r)=>{ if(r.method==='GET')return A; await r.body(1000); return B}})), 'none')
