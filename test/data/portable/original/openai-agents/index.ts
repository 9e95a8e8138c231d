import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';

const recipeOfTheDay = tool({
  name: 'recipe_of_the_day',
  description: 'Returns the recipe of the day for a season.',
  parameters: z.object({
    season: z.string().describe('spring, summer, autumn or winter'),
  }),
  execute: async ({ season }) => {
    return season === 'summer' ? 'Cold tomato soup' : 'Lentils with lemon';
  },
});

const cookAgent = new Agent({
  name: 'Cook',
  instructions:
    'You help people cook. Ask for allergies before you recommend a dish, and name the minutes that it takes.',
  handoffDescription: 'Specialist for recipes and cooking',
  tools: [recipeOfTheDay],
});

const gardenAgent = new Agent({
  name: 'Gardener',
  instructions:
    'You help people grow vegetables. Ask where they live, and say in which month to sow and to harvest.',
  handoffDescription: 'Specialist for growing vegetables',
});

const triageAgent = Agent.create({
  name: 'Triage Agent',
  instructions:
    "You decide which specialist answers the user's question about food: the cook or the gardener.",
  handoffs: [cookAgent, gardenAgent],
});

async function main() {
  const result = await run(triageAgent, 'What can I cook with courgettes?');
  console.log(result.finalOutput);
}

main().catch((err) => console.error(err));
