/* Draw the electrodes of a map on the cortex; the data are the JSON block of the page. */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const plot = document.getElementById("plot");
  const task = document.getElementById("task");
  const bin = document.getElementById("bin");
  const when = document.getElementById("when");
  const only = document.getElementById("only");
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const ink = dark ? "#e6e9ee" : "#1b1f24";

  data.tasks.forEach(function (name, number) {
    const option = document.createElement("option");
    option.value = String(number);
    option.textContent = name;
    task.appendChild(option);
  });
  bin.max = String(data.bins.length - 1);

  function highest() {
    /* Begin with the window in which most electrodes are significant, or the highest value. */
    let best = 0, most = -1;
    data.bins.forEach(function (_, number) {
      let sum = 0;
      data.values[task.value].forEach(function (row, electrode) {
        const value = row[number];
        sum += data.significant[task.value][electrode][number] + (value === null ? 0 : Math.max(0, value - 0.5));
      });
      if (sum > most) { most = sum; best = number; }
    });
    return best;
  }

  const light = { ambient: 0.5, diffuse: 0.7, specular: 0.1, roughness: 0.9 };
  const traces = data.meshes.map(function (mesh) {
    return {
      type: "mesh3d", x: mesh.points[0], y: mesh.points[1], z: mesh.points[2],
      i: mesh.triangles[0], j: mesh.triangles[1], k: mesh.triangles[2],
      color: "#c8c8c8", opacity: 0.22, hoverinfo: "skip", lighting: light, showscale: false
    };
  });
  const places = data.electrodes.xyz;

  function electrodes(significant) {
    const shown = [[], [], [], [], []];
    data.electrodes.names.forEach(function (name, electrode) {
      const value = data.values[task.value][electrode][bin.value];
      const marked = data.significant[task.value][electrode][bin.value] === 1;
      if (marked !== significant || value === null || (only.checked && !marked)) { return; }
      [0, 1, 2].forEach(function (axis) { shown[axis].push(places[axis][electrode]); });
      shown[3].push(value);
      shown[4].push(name + ": " + value.toFixed(3) + (marked ? ", significant" : ""));
    });
    return {
      type: "scatter3d", mode: "markers", x: shown[0], y: shown[1], z: shown[2], text: shown[4], hoverinfo: "text",
      showlegend: false,
      marker: {
        size: significant ? 7 : 4, color: shown[3], colorscale: "Viridis", cmin: data.scale.low, cmax: data.scale.high,
        line: { width: significant ? 2 : 0, color: "#000000" }, showscale: !significant,
        colorbar: { title: { text: data.scale.label, side: "right", font: { color: ink } }, tickfont: { color: ink }, len: 0.8, thickness: 14 }
      }
    };
  }

  const axis = { visible: false };
  const layout = {
    margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", uirevision: "same",
    scene: { xaxis: axis, yaxis: axis, zaxis: axis, aspectmode: "data", camera: { eye: { x: -1.7, y: 0.3, z: 0.4 } } }
  };
  const options = { responsive: true, displayModeBar: false };

  function draw() {
    when.textContent = data.bins[bin.value];
    return window.Plotly.react(plot, traces.concat([electrodes(false), electrodes(true)]), layout, options);
  }
  task.addEventListener("change", function () { bin.value = String(highest()); draw(); });
  bin.addEventListener("input", draw);
  only.addEventListener("change", draw);
  document.getElementById("choices").addEventListener("submit", function (event) { event.preventDefault(); });
  bin.value = String(highest());
  draw().then(function () { plot.dataset.drawn = String(data.electrodes.names.length); });
})();
