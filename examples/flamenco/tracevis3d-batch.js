// A batch of commands, such as comparisons, as a job of Flamenco: put this file into the folder `scripts` beside
// flamenco-manager. Each task runs some lines of the file, in the folder that its paths are relative to.

const JOB_TYPE = {
    label: "TraceVis3D batch",
    settings: [
        { key: "batch", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "A file with a command on each line, with absolute paths where all workers find them" },
        { key: "lines", type: "string", required: true, visible: "submission",
          description: "Lines of the file, such as 1-40" },
        { key: "chunk_size", type: "int32", default: 1, propargs: {min: 1, max: 10000}, visible: "submission",
          description: "Number of lines in a task" },
        { key: "only_new", type: "bool", default: true, visible: "submission",
          description: "Leave out lines whose output is already there" },
        { key: "program", type: "string", default: "tracevis3d", visible: "submission",
          description: "The program on the workers; a variable such as {tracevis3d} may stand for it" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    for (const chunk of frameChunker(settings.lines, settings.chunk_size)) {
        const task = author.Task(`lines-${chunk}`, "blender");
        // A chunk may hold several ranges: 1-3,7.
        for (const range of chunk.split(",")) {
            const args = ["batch", settings.batch, "--lines", range.replace("-", ".."), "--jobs", "1", "--quiet"];
            task.addCommand(author.Command("exec", {
                exe: settings.program,
                args: settings.only_new ? args.concat(["--new"]) : args,
            }));
        }
        job.addTask(task);
    }
}
