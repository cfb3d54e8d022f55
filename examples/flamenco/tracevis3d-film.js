// A film of a story as a job of Flamenco: put this file into the folder `scripts` beside flamenco-manager.
// Each task renders a part of the frames into a folder that all workers share; the last one joins them. A task
// that is tried again, because its worker died, keeps the frames that are there.

const JOB_TYPE = {
    label: "TraceVis3D film",
    settings: [
        { key: "story", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "The story: .yaml, .toml or .json. It and its traces lie where all workers find them" },
        { key: "film", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "The film to be written: .mp4 or .mkv" },
        { key: "frames_folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Shared folder for the frames" },
        { key: "parts", type: "int32", default: 10, propargs: {min: 1, max: 10000}, visible: "submission",
          description: "Number of tasks" },
        { key: "size", type: "string", default: "", visible: "submission",
          description: "Such as 1920x1080; empty: as the story says" },
        { key: "fps", type: "int32", default: 0, propargs: {min: 0, max: 120}, visible: "submission",
          description: "Frames per second; 0: as the story says" },
        { key: "program", type: "string", default: "tracevis3d", visible: "submission",
          description: "The program on the workers; a variable such as {tracevis3d} may stand for it" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    const join = author.Task("join", "blender");
    join.addCommand(film(settings, []));
    for (let k = 1; k <= settings.parts; k++) {
        const task = author.Task(`render-${k}-of-${settings.parts}`, "blender");
        task.addCommand(film(settings, ["--part", `${k}/${settings.parts}`]));
        join.addDependency(task);
        job.addTask(task);
    }
    job.addTask(join);
}

function film(settings, part) {
    const look = [];
    if (settings.size) {
        look.push("--size", settings.size);
    }
    if (settings.fps) {
        look.push("--fps", `${settings.fps}`);
    }
    return author.Command("exec", {
        exe: settings.program,
        args: ["film", settings.story, "-o", settings.film, "--folder", settings.frames_folder, "--quiet"]
            .concat(look, part),
    });
}
