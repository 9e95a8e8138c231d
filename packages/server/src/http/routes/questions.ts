import { operations } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { FastifyInstance } from 'fastify';
import { toAnswerer } from '../../accounts/answerer.ts';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { Questions } from '../../chats/questions.ts';
import { OWN_CHAT_RULES } from '../../domain/admission/chat-rules.ts';
import { NO_EXTRAS } from '../../domain/run/run-extras.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { type CompletionLimits, readCompletion } from '../body/read-completion.ts';
import { toTrace } from '../request-id.ts';
import { ownersQuery, type RequestOf, route } from '../route.ts';
import type { RunStarts } from '../run-starts.ts';

export interface QuestionRoutesDeps {
  readonly questions: Questions;
  readonly starts: RunStarts;
  readonly runReads: RunReads;
  readonly limits: CompletionLimits;
  readonly fetchAllow: FetchAllow;
}

const CHAT_RULES = { ...OWN_CHAT_RULES, mustExist: true, answersAll: true };

export function questionRoutes(app: FastifyInstance, deps: QuestionRoutesDeps): void {
  const { questions, starts, runReads, limits, fetchAllow } = deps;

  route(app, operations.listQuestions, async (request) =>
    questions.list({ ...ownersQuery(request), integrations: request.principal.integrations }),
  );

  /** Reads the answers as `POST /get_completion_v2` does. */
  const read = (request: RequestOf<typeof operations.answerQuestions>) => {
    const { answers, message = '', user_context } = request.body;
    const { apiIntegrationId } = request.params;
    const usageRequestId = toRequestId(request.body);
    const context = user_context === undefined ? {} : { user_context };
    const body = { apiIntegrationId, message, answers, usageRequestId, ...context };
    const { ownerId } = request.principal;
    const answeredBy = toAnswerer(request);
    const source = { body, ownerId, clientToken: null, answeredBy, images: null, trace: toTrace(request) };
    return readCompletion(source, limits, fetchAllow);
  };
  route(
    app,
    operations.answerQuestions,
    async (request, reply, scope, given) => {
      const { integrationId } = scope;
      const { instructions, ...asking } = await questions.askingRequest(integrationId, request.params.chatId);
      const extras = { ...NO_EXTRAS, instructions, startsUnread: true } as const;
      const audit = app.audit(request);
      const completion: CompletionRequest = {
        ...given,
        ...asking,
        integrationId,
        extras,
        chatRules: CHAT_RULES,
        audit,
      };
      const { runId, chatId, replayed } = await starts.admitUnread(completion);
      const { status } = await runReads.row(scope, runId);
      return reply.code(replayed ? 200 : 201).send({ runId, chatId, status });
    },
    { read },
  );
}

/** The same answers start one run, also if the caller names no id. */
function toRequestId({ answers, usageRequestId = '' }: RequestOf<typeof operations.answerQuestions>['body']): string {
  return isBlank(usageRequestId) ? `answers:${answers[0]?.questionId ?? ''}` : usageRequestId;
}
