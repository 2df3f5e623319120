import Foundation
import HTTPSupport
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// The messages to a service manager, in the form of sd_notify(3).
@Suite struct SupervisorTests {
    private let folder: TemporaryFolder
    private static let logger = Logger(label: "", factory: { _ in SwiftLogNoOpLogHandler() })

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [false, true]) func `messages reach a socket in a folder or without one`(isAbstract: Bool)
        async throws
    {
        let name = isAbstract ? "@till-test-\(UUID().uuidString)" : folder.file("s").path
        let socket = try MessageSocket(name)
        let supervisor = Supervisor(["NOTIFY_SOCKET": name])
        #expect(supervisor.isPresent)
        #expect(supervisor.reportReady())
        #expect(await socket.next() == "READY=1\nSTATUS=Answers requests.")
        #expect(supervisor.reportWaiting("Waiting.", atMost: .seconds(30)))
        #expect(await socket.next() == "STATUS=Waiting.\nEXTEND_TIMEOUT_USEC=31000000")
    }

    @Test(arguments: [
        [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "vsock:2:1"], ["NOTIFY_SOCKET": "/nowhere/socket"],
        ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)],
    ])
    func `a missing supervisor gets nothing`(environment: [String: String]) {
        #expect(!Supervisor(environment).reportReady())
    }

    @Test func `signs of life come until the end of the service, which is reported`() async throws {
        let name = folder.file("s").path
        let socket = try MessageSocket(name)
        let supervisor = Supervisor(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000", "WATCHDOG_PID": "7"], process: 7)
        let group = ServiceGroup(
            services: [supervisor.signsOfLife(logger: Self.logger)], logger: Self.logger)
        async let end: Void = group.run()
        for _ in 0..<3 { #expect(await socket.next() == "WATCHDOG=1") }
        await group.triggerGracefulShutdown()
        try await end
        var last = await socket.next()
        while last == "WATCHDOG=1" { last = await socket.next() }
        #expect(last == "STOPPING=1\nSTATUS=Stopping.")
    }

    @Test func `another process than the watched one gives no sign of life`() async throws {
        let name = folder.file("s").path
        let socket = try MessageSocket(name)
        let supervisor = Supervisor(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000", "WATCHDOG_PID": "7"], process: 8)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let other = Companion {
            beginning.finish()
            try await gracefulShutdown()
        }
        let group = ServiceGroup(
            services: [supervisor.signsOfLife(logger: Self.logger), other], logger: Self.logger)
        async let end: Void = group.run()
        // A group that has not begun would be over at once.
        for await _ in begun {}
        await group.triggerGracefulShutdown()
        try await end
        #expect(await socket.next() == "STOPPING=1\nSTATUS=Stopping.")
    }

    @Test func `an event loop that hangs ends the signs of life`() async throws {
        let name = folder.file("s").path
        let socket = try MessageSocket(name)
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let hanging = DispatchSemaphore(value: 0)
        let hangs = Atomic(false)
        let second = try #require(Array(loops.makeIterator()).last)
        let supervisor = Supervisor(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000"])
        let group = ServiceGroup(
            services: [supervisor.signsOfLife(of: loops, logger: Self.logger)], logger: Self.logger)
        async let end: Void = group.run()
        #expect(await socket.next() == "WATCHDOG=1")
        second.execute {
            hangs.store(true, ordering: .sequentiallyConsistent)
            hanging.wait()
        }
        await expectEventually { hangs.load(ordering: .sequentiallyConsistent) }
        // The signs that were on their way.
        var signs = 0
        while signs < 100, await socket.next(within: .milliseconds(300)) != nil { signs += 1 }
        #expect(signs < 100)
        hanging.signal()
        #expect(await socket.next() == "WATCHDOG=1")
        await group.triggerGracefulShutdown()
        try await end
        try await loops.shutdownGracefully()
    }
}
