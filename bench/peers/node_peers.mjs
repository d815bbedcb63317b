// node node_peers.mjs yoga|mercurius|mercurius-lean PORT DYNAMODB_URL
// Node servers for the bodies of the benchmark: a dataloader for users, no tokens, one tenant.
import crypto from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import {
  BatchGetItemCommand, DynamoDBClient, GetItemCommand, QueryCommand, TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import DataLoader from 'dataloader'
import Fastify from 'fastify'
import { createSchema, createYoga } from 'graphql-yoga'
import mercurius from 'mercurius'
import { Pool } from 'undici'

const [, , kind, port, dynamodb] = process.argv
const { host } = new URL(dynamodb)
const region = 'eu-west-1'
const own = 'TENANT#t000#'
const agent = { keepAlive: true, maxSockets: 64 }

function sdk () {
  const client = new DynamoDBClient({
    region,
    endpoint: dynamodb,
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret' },
    requestHandler: new NodeHttpHandler({ httpAgent: new http.Agent(agent), httpsAgent: new https.Agent(agent) }),
  })
  const commands = {
    BatchGetItem: BatchGetItemCommand, GetItem: GetItemCommand, Query: QueryCommand,
    TransactWriteItems: TransactWriteItemsCommand,
  }
  return { call: (operation, body) => client.send(new commands[operation](body)), item: row => unmarshall(row) }
}

// a hand-made client: undici, and a signature with the key of the day kept
function lean () {
  const pool = new Pool(dynamodb, { connections: 64, pipelining: 1 })
  const mac = (key, text) => crypto.createHmac('sha256', key).update(text).digest()
  const hash = text => crypto.createHash('sha256').update(text).digest('hex')
  const keys = new Map()
  const signed = 'host;x-amz-date;x-amz-target'
  async function call (operation, content) {
    const body = JSON.stringify(content)
    const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '')
    const day = date.slice(0, 8)
    const scope = `${day}/${region}/dynamodb/aws4_request`
    const target = `DynamoDB_20120810.${operation}`
    if (!keys.has(day)) keys.set(day, mac(mac(mac(mac('AWS4secret', day), region), 'dynamodb'), 'aws4_request'))
    const request = `POST\n/\n\nhost:${host}\nx-amz-date:${date}\nx-amz-target:${target}\n\n${signed}\n${hash(body)}`
    const signature = mac(keys.get(day), `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash(request)}`).toString('hex')
    const answer = await pool.request({
      method: 'POST',
      path: '/',
      body,
      headers: {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': target,
        'x-amz-date': date,
        authorization: `AWS4-HMAC-SHA256 Credential=AKID/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
      },
    })
    return answer.body.json()
  }
  function item (row) {
    const values = {}
    for (const name in row) {
      const value = row[name]
      values[name] = value.S !== undefined ? value.S : value.N !== undefined ? +value.N : unmarshall({ value }).value
    }
    return values
  }
  return { call, item }
}

const { call, item } = kind === 'mercurius-lean' ? lean() : sdk()
const key = (pk, sk) => ({ PK: { S: own + pk }, SK: { S: sk } })
const get = async (pk, sk) => item((await call('GetItem', { TableName: 'app', Key: key(pk, sk) })).Item)

async function users (ids) {
  const keys = ids.map(id => key(`USER#${id}`, 'PROFILE'))
  const answer = await call('BatchGetItem', { RequestItems: { app: { Keys: keys } }, ReturnConsumedCapacity: 'TOTAL' })
  const found = new Map(answer.Responses.app.map(item).map(user => [user.userId, user]))
  return ids.map(id => found.get(id) ?? null)
}

async function reviewQueue (_, { first }) {
  const answer = await call('Query', {
    TableName: 'app',
    IndexName: 'GSI3',
    KeyConditionExpression: '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'GSI3PK', '#status': 'status', '#total': 'total' },
    ExpressionAttributeValues: { ':pk': { S: `${own}REVIEW` } },
    ProjectionExpression: 'PK,SK,EntityType,GSI3SK,currency,orderId,placedAt,#status,#total,userId',
    Limit: first,
    ReturnConsumedCapacity: 'TOTAL',
  })
  return { nodes: answer.Items.map(item) }
}

async function updateCategory (_, { input }) {
  const category = await get(`CATEGORY#${input.categoryId}`, 'DETAILS')
  const version = category.version + 1
  await call('TransactWriteItems', {
    TransactItems: [{
      Update: {
        TableName: 'app',
        Key: key(`CATEGORY#${input.categoryId}`, 'DETAILS'),
        UpdateExpression: 'SET title = :title, version = :version',
        ConditionExpression: 'version = :old',
        ExpressionAttributeValues: {
          ':title': { S: input.title }, ':version': { N: `${version}` }, ':old': { N: `${category.version}` },
        },
      },
    }],
  })
  return { category: { ...category, title: input.title, version }, errors: [] }
}

const typeDefs = `
type Query { reviewQueue(first: Int!): OrderConnection! product(productId: ID!): Product }
type Mutation { updateCategory(input: UpdateCategoryInput!): UpdateCategoryPayload! }
input UpdateCategoryInput { categoryId: ID! title: String! }
type UpdateCategoryPayload { category: Category errors: [UserError!]! }
type UserError { message: String! }
type Category { categoryId: ID! title: String! version: Int! }
type OrderConnection { nodes: [Order!]! }
type Order { orderId: ID! status: String! total: Float! currency: String placedAt: String! user: User }
type User { userId: ID! name: String! email: String }
type Product { productId: ID! title: String! price: Float! }`
const resolvers = {
  Query: { reviewQueue, product: (_, { productId }) => get(`PRODUCT#${productId}`, 'DETAILS') },
  Mutation: { updateCategory },
  Order: { user: (order, _, context) => context.users.load(order.userId) },
}
const context = () => ({ users: new DataLoader(users) })

if (kind === 'yoga') {
  const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), context, logging: false, graphiql: false })
  http.createServer(yoga).listen(+port, '127.0.0.1')
} else {
  const server = Fastify()
  server.register(mercurius, { schema: typeDefs, resolvers, context, jit: 1 })
  server.listen({ port: +port, host: '127.0.0.1' })
}
