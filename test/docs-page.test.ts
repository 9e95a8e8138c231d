import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Operation, operations } from '@runwire/contract/schemas';
import { startTestServer, type TestServer } from '@runwire/test-kit';
import { html, prose } from '../packages/server/src/http/docs/html.ts';
import { renderDocs } from '../packages/server/src/http/docs/render-docs.ts';
import { cites } from '../requirements/cite.ts';

let server: TestServer;
let page: string;
let headers: Headers;
before(async () => {
  server = await startTestServer();
  const answer = await fetch(`${server.url}/docs`);
  assert.equal(answer.status, 200);
  headers = answer.headers;
  page = await answer.text();
});
after(() => server[Symbol.asyncDispose]());

test('the reference is one public page with an anchor for each operation', async (t) => {
  cites(t, 'contract-1-run-reference', 'contract-3-docs', 'contract-2-without-key-docs');
  assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length, 'no anchor twice');
  for (const { operationId, method, summary } of Object.values(operations as Record<string, Operation>)) {
    assert.ok(ids.includes(operationId), operationId);
    assert.ok(page.includes(`href="#${operationId}"`), `${operationId} is in the menu`);
    const article = page.slice(page.indexOf(`<article id="${operationId}">`)).split('</article>')[0] ?? '';
    assert.ok(article.includes(`>${method}<`) && article.includes(html`${summary}`.text), operationId);
  }
  const { body } = await server.api.as(null).get('/openapi.json');
  for (const name of Object.keys(body.components.schemas)) assert.ok(ids.includes(`schema-${name}`), name);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g))
    assert.ok(ids.includes(target), `#${target} leads nowhere`);
  assert.ok(page.includes(server.url), 'its address works as pasted');
});

test('the page loads no script and no other host, and its policy allows none', (t) => {
  cites(t, 'contract-3-docs');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; /);
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
  assert.ok(policy.includes(hash('sha256', style, 'base64')), 'the style is the one that the policy allows');
  assert.ok(!/<script|<link|<img|<iframe|style="|\son\w+="|@import|url\(/i.test(page));
  for (const [, address] of page.matchAll(/(?:href|src)="([^"]*)"/g))
    assert.match(address ?? '', /^(#|openapi\.json$)/);
  assert.match(style, /prefers-color-scheme: dark/);
  assert.match(page, /<meta name="viewport"/);
});

test('markup in a description is shown, never run', () => {
  const evil = '<script>alert("1")</script>';
  const said = renderDocs({
    info: { title: evil, version: evil, description: `a ${evil} \`${evil}\`` },
    servers: [{ url: evil }],
    paths: {
      [`/${evil}`]: {
        get: {
          operationId: evil,
          summary: evil,
          tags: [evil],
          parameters: [{ name: evil, in: 'query', schema: { enum: [evil] } }],
          responses: { 200: { description: evil, content: { [evil]: { schema: { pattern: evil } } } } },
        },
      },
    },
    components: { schemas: { [evil]: { properties: { [evil]: { description: evil, default: evil } } } } },
  });
  assert.ok(!said.includes('<script'));
  assert.ok(!/="[^"]*<|="[^"]*"1/.test(said));
  assert.equal(prose('a `b<c` d').text, 'a <code>b&lt;c</code> d');
});
