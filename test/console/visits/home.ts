import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { signInNewOwner } from '../steps.ts';
import type { ConsoleVisit } from '../visit.ts';

export const homeVisits: readonly ConsoleVisit[] = [
  {
    name: 'home',
    async run(visit) {
      const { page, seed, api } = visit;
      await visit.open('');
      const strip = page.getByRole('region', { name: 'Web shop' });
      await strip.getByText('Duration, p95').waitFor();
      const { body } = await api.get(`/v2/overview?integration=${seed.integration}`);
      const shown = await strip.locator('dd').first().innerText();
      expectEqual('runs of the strip', Number(shown.replaceAll(',', '')) >= body.measures.runs, true);
      await visit.checkPage('home');
      await strip.getByRole('link', { name: 'Web shop' }).click();
      await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor();
      await visit.checkPage('integration-overview');
    },
  },
  {
    name: 'home-first-steps',
    signedIn: false,
    async run(visit) {
      const { page, api } = visit;
      const owner = await signInNewOwner(visit, 'first steps');
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      await page.getByRole('heading', { name: 'No integrations yet' }).waitFor();
      await visit.checkPage('home-empty');
      const own = api.as(owner.apiKey);
      const { body } = await own.post('/v2/integrations', { name: 'First' });
      await page.reload();
      const steps = page.getByRole('region', { name: 'First steps' });
      await steps.getByText('Send the first request').waitFor();
      await visit.checkPage('home-first-steps');
      const reader = await own.complete({ apiIntegrationId: body.apiIntegrationId, message: 'Hello' });
      // It appears by itself.
      await steps.getByRole('link', { name: 'the newest run' }).waitFor();
      await reader.whole();
    },
  },
];
