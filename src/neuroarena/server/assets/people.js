// Help for people who are signed in: checking a dropped file before it is sent, and states that change by themselves.
// Every page works without it.
"use strict";

function say(place, kind, words) {
  place.replaceChildren(Object.assign(document.createElement("p"), { className: kind, textContent: words }));
}

function sendForm(address, form, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRF-Token", form.get("csrf"));
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      let said = {};
      try { said = JSON.parse(request.responseText); } catch { said = { error: "The server did not answer as expected." }; }
      if (request.status >= 200 && request.status < 300) resolve(said);
      else reject(new Error(said.error ?? `The server answered with ${request.status}.`));
    });
    request.addEventListener("error", () => reject(new Error("The connection broke. Nothing was taken; try again.")));
    request.send(form);
  });
}

function describeVerdict(said) {
  const facts = [said.kind];
  if (said.rows !== null) facts.push(`${said.rows} rows`);
  if (said.model) facts.push(said.model);
  return `The checker finds nothing wrong with ${said.file} (${facts.join(", ")}). No attempt was used yet.`;
}

function helpSubmitting(form) {
  const file = form.elements.file, drop = document.getElementById("drop");
  const send = document.getElementById("send"), verdict = document.getElementById("verdict");
  const progress = document.getElementById("progress"), bar = document.getElementById("bar");
  const step = document.getElementById("step");
  let round = 0;

  async function pass(address, words) {
    step.textContent = words;
    progress.hidden = false;
    bar.value = 0;
    try {
      return await sendForm(address, new FormData(form), (share) => {
        bar.value = share;
        if (share >= 1) step.textContent = "Sent; the checker reads it";
      });
    } finally {
      progress.hidden = true;
    }
  }

  async function check() {
    const mine = ++round;
    if (file.files.length === 0) return;
    send.disabled = true;
    if (file.files[0].size > Number(form.dataset.most)) {
      say(verdict, "bad", "The file is too large.");
      return;
    }
    try {
      const said = await pass(form.dataset.check, "Sending it to the checker");
      if (mine !== round) return;
      say(verdict, "good", describeVerdict(said));
      send.disabled = false;
    } catch (error) {
      if (mine === round) say(verdict, "bad", error.message);
    }
  }

  document.getElementById("check").hidden = true;
  file.addEventListener("change", check);
  form.elements.track.addEventListener("change", check);
  form.elements.kind.addEventListener("change", check);
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); });
  }
  drop.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length === 0) return;
    file.files = event.dataTransfer.files;
    check();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const said = await pass(form.dataset.submit, "Handing it in");
      location.assign(`submissions/${said.submission}`);
    } catch (error) {
      say(verdict, "bad", error.message);
      send.disabled = false;
    }
  });
}

async function refresh(place) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (fresh) {
    if (fresh.innerHTML !== place.innerHTML) place.replaceChildren(...fresh.childNodes);
    if (fresh.dataset.live === undefined) place.dispatchEvent(new Event("ended"));
  }
}

function watchStates(place) {
  let known = null;
  const source = new EventSource(place.dataset.live);
  place.setAttribute("aria-live", "polite");
  source.addEventListener("states", (event) => {
    const states = JSON.parse(event.data), only = place.dataset.only;
    const mine = JSON.stringify(only === undefined ? states : states[only]);
    if (mine !== known) refresh(place); // the first time too: it may have changed since the page was made
    known = mine;
  });
  place.addEventListener("ended", () => source.close());
}

const form = document.getElementById("submit");
if (form) helpSubmitting(form);
document.querySelectorAll("[data-live]").forEach(watchStates);
