var e=e=>`'${e.replaceAll(`'`,`'\\''`)}'`,t=e=>JSON.stringify(e),n=e=>`'${t(e).slice(1,-1).replaceAll(`\\"`,`"`).replaceAll(`'`,`\\'`)}'`;function r({url:t,integration:n,request:r}){let i={apiIntegrationId:n,...r,usageRequestId:`hello-`},a=JSON.stringify(i).slice(0,-2);return`curl -N ${e(`${t}/get_completion_v2`)} \\
  -H "Authorization: Bearer $RUNWIRE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${e(a)}"$(date +%s)"'"}'`}var i=80;function a(e,t){let n=e.join(`, `);return n.length<=i?n:`\n${e.map(e=>`${t}${e},\n`).join(``)}`}var o=e=>Object.entries(e).filter(([,e])=>e!==void 0);function s({url:e,integration:t,request:r}){let i=a(o(r).map(([e,t])=>`${e}: ${typeof t==`string`?n(t):JSON.stringify(t)}`),`  `);return`import { Runwire } from '@runwire/client';

const client = new Runwire({
  baseUrl: ${n(e)},
  apiKey: process.env.RUNWIRE_API_KEY ?? '',
  integration: ${n(t)},
});

const run = client.run({${i.startsWith(`
`)?i:` ${i} `}});
for await (const event of run) {
  if (event.type === 'text') process.stdout.write(event.delta);
}`}function c(e){return Array.isArray(e)?`[${e.map(c).join(`, `)}]`:typeof e==`object`&&e?`{${Object.entries(e).map(([e,n])=>`${t(e)}: ${c(n)}`).join(`, `)}}`:e===null?`None`:typeof e==`boolean`?e?`True`:`False`:JSON.stringify(e)}var l=e=>e.replaceAll(/[A-Z]/g,e=>`_${e.toLowerCase()}`);function u({url:e,integration:n,request:{message:r,...i}}){let s=o(i).map(([e,t])=>`${l(e)}=${c(t)}`),u=[t(r),...s];return`import os

from runwire import Runwire

client = Runwire(${t(e)}, os.environ["RUNWIRE_API_KEY"], integration=${t(n)})

for event in client.run(${a(u,`    `)}):
    if event.type == "text":
        print(event.delta, end="", flush=True)`}export{s as a,n as i,t as n,u as r,r as t};