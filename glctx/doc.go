// Package glctx opens OpenGL 4.5 core contexts, without a display through EGL or
// with a window through GLFW. It is the only way to GL in this project.
//
// A [Context] owns an OS thread, and all GL calls run there: give them to
// [Context.Do]. [Context.Caps] says what the device can do and how many bytes may
// be used on it. [Context.Check] turns what GL reports into an error that names
// the pass; [Context.Track] and [Context.Live] count objects, so that Close can
// say what leaked.
//
//	c, err := glctx.Open(glctx.Options{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	err = c.Do(ctx, func() error {
//		gl.Clear(gl.DEPTH_BUFFER_BIT)
//		return c.Check("pass Clear")
//	})
//
// # Devices
//
// EGL lists the devices of its device platform (one per GPU, and Mesa's software
// renderer), and Mesa has a surfaceless platform beside them. [ReadInfo] lists
// them by number. [Open] takes the first hardware device that opens, else software;
// Options.Device or STENCILDB_DEVICE choose another.
//
// # Building
//
// Build with -tags egl: otherwise go-gl links libGL, which a server may lack.
// Windows need -tags egl,window, which link libGL and X11; without that tag
// [OpenWindow] returns an error that says so, and [RunMain] just runs its function.
// libEGL (libegl1) is loaded when a device is asked for: without it the program starts,
// and no device opens.
//
// # Caveats
//
//   - A call of Do hands over between two OS threads, which costs some 10 to 40
//     microseconds (12 to 14 on an idle machine). Inside Do it costs 0.1 to 0.4. Give
//     Do a whole query, not one draw. With GOMAXPROCS of 5 and more, when the context
//     is opened, both threads spin for a moment before they sleep. The GL thread spins 100
//     microseconds after its last task, the caller up to 1000. Calls that follow each
//     other closely cost 1 microsecond.
//   - A caller of Do whose context ends is back at once. Its function goes on until it
//     ends, and what was to run after it waits for that. [Context.Abandoned] tells.
//   - Functions given to Do run one at a time. One that waits for another
//     goroutine that itself calls Do never ends.
//   - Do not call testing's FailNow (Fatal) or runtime.Goexit inside Do: they end
//     the GL thread, and the context closes.
//   - Objects belong to one context: contexts here share nothing.
//   - After [ErrOutOfMemory] GL leaves its state undefined, and after
//     [ErrContextLost] there is none. Close the context and open another, as after any
//     error that is [ErrFault]. A
//     software renderer does not report memory that runs out, the kernel ends the
//     process: keep within Caps.Budget.
//   - A Context that is dropped without Close keeps its thread and its memory.
//   - An occlusion query counts to 2^Caps.SamplesBits: 32 bits on NVIDIA. Count one
//     chunk at a time.
//   - Timer queries mean nothing on software renderers, which take the time when
//     they take the command. There [Timer] uses the wall clock around glFinish, so
//     it stalls what it measures.
//   - On software renderers depth bounds are missing. STENCILDB_DISABLE (a
//     comma-separated list of extensions) makes them missing anywhere, so that the
//     other path can be tested.
//   - The function table is the process's, filled through eglGetProcAddress once.
//     With libglvnd, which every current distribution has, it serves EGL and GLX
//     contexts of several drivers side by side.
//   - A window is created, closed and asked for its events on the main thread,
//     which [RunMain] serves: call it from main. [Window.Events] waits on that
//     thread, so one window's waiting holds up the others.
package glctx
