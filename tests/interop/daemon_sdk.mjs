// Drives the SDK of the reference, unmodified, as a program of its users does:
//   node daemon_sdk.mjs SCENARIO BASE_URL FOLDER
// The token comes in INTEROP_TOKEN. Prints one JSON document that tells what the SDK gave.
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";

const sdk = createRequire(`${process.env.INTEROP_HOME}/`)("@qwen-code/sdk/daemon");
const [, , scenario, baseUrl, folder] = process.argv;
const client = new sdk.DaemonClient({ baseUrl, token: process.env.INTEROP_TOKEN });

async function ended(read) {
  for (;;) {
    const task = await read();
    if (task.status === "completed" || task.status === "failed") return task;
    await pause(20);
  }
}

async function refusal(call) {
  try {
    return { answer: await call() };
  } catch (error) {
    return { name: error.name, status: error.status, code: error.body?.code, message: error.message };
  }
}

// The next events of a subscription, up to and with the first that is wanted.
async function until(subscription, isWanted) {
  const events = [];
  for (;;) {
    const { value, done } = await subscription.next();
    if (done) return { events, done };
    events.push(value);
    if (isWanted(value)) return { events, done: false };
  }
}

// Subscribes and waits until the service has answered; what happens from then on is heard.
async function opened(session, options = {}) {
  let answered;
  const epoch = new Promise((resolve) => (answered = resolve));
  const subscription = session.events({ ...options, onEpoch: answered });
  let begun = subscription.next();
  await epoch;
  return {
    next() {
      const one = begun ?? subscription.next();
      begun = undefined;
      return one;
    },
    close: () => subscription.return(),
  };
}

const scenarios = {
  async tasks() {
    const capabilities = await client.capabilities();
    const remember = await client.rememberWorkspaceMemory("I like green tea.", { scope: "user" });
    const remembered = await ended(() => client.getWorkspaceMemoryRememberTask(remember.taskId));
    const forget = await client.forgetWorkspaceMemory("green tea", { scope: "user" });
    const forgotten = await ended(() => client.getWorkspaceMemoryForgetTask(forget.taskId));
    const dream = await client.dreamWorkspaceMemory();
    const dreamt = await ended(() => client.getWorkspaceMemoryDreamTask(dream.taskId));
    return { cwd: sdk.requireWorkspaceCwd(capabilities), accepted: remember, remembered, forgotten, dreamt };
  },

  async refusals() {
    const stranger = new sdk.DaemonClient({ baseUrl, token: "wrong" });
    const unknown = "remember-00000000-0000-4000-8000-000000000000";
    return {
      blank: await refusal(() => client.rememberWorkspaceMemory("  ")),
      unknownTask: await refusal(() => client.getWorkspaceMemoryRememberTask(unknown)),
      unknownClient: await refusal(() => client.dreamWorkspaceMemory({ clientId: "nobody" })),
      wrongToken: await refusal(() => stranger.capabilities()),
      otherFolder: await refusal(() => client.createOrAttachSession({ workspaceCwd: "/srv/other" })),
      noSession: await refusal(() => client.heartbeat("nope")),
      notServed: await refusal(() => client.listWorkspaceAgents()),
    };
  },

  async session() {
    const session = await sdk.DaemonSessionClient.createOrAttach(client, { workspaceCwd: folder });
    const clientId = session.clientId;
    const live = await opened(session);
    const first = await client.rememberWorkspaceMemory("The kettle is green.", { clientId });
    const heard = await until(live, (event) => event.data.taskId === first.taskId && event.type === "memory_changed");
    await live.close();
    const missed = await client.rememberWorkspaceMemory("The cup is blue.", { clientId });
    await ended(() => client.getWorkspaceMemoryRememberTask(missed.taskId, { clientId }));
    const resumedFrom = session.lastEventId;
    const again = await opened(session);
    const replayed = await until(again, (event) => event.type === "replay_complete");
    const beat = await session.heartbeat();
    const hidden = await refusal(() => client.getWorkspaceMemoryRememberTask(missed.taskId, { clientId: undefined }));
    const other = await sdk.DaemonSessionClient.createOrAttach(client, { workspaceCwd: folder });
    await other.detach();
    await session.close();
    const last = await until(again, (event) => event.type === "session_closed");
    const rest = await until(again, () => false);
    const events = [...heard.events, ...replayed.events, ...last.events];
    return {
      session: session.session,
      other: other.session,
      heard: heard.events,
      missed: missed.taskId,
      resumedFrom,
      replayed: replayed.events,
      beat,
      hidden,
      closed: last.events.at(-1),
      streamEnded: rest.done,
      afterwards: await refusal(() => session.heartbeat()),
      known: events.filter((event) => sdk.asKnownDaemonEvent(event)).map((event) => event.type),
      shown: events.map((event) => [event.type, sdk.normalizeDaemonEvent(event).map((one) => one.type)]),
      view: sdk.reduceDaemonSessionEvents(events),
    };
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
