import Foundation
import HTTPSupport
import Synchronization
import TestSupport
import Testing

/// Many listeners during many changes: no event is lost, and memory does not grow. `make soak` runs the full size.
@Suite struct EventSoakTests {
    private struct Size: Sendable {
        let users: Int
        /// The number of listeners of each user.
        let screens: Int
        let changesPerSecond: Int
        let seconds: Int

        static let small = Size(users: 10, screens: 4, changesPerSecond: 100, seconds: 2)
        static let full = Size(users: 500, screens: 4, changesPerSecond: 200, seconds: 120)
    }

    /// The events that one user's listeners have received, and the times of the requests that caused them.
    private struct Counts {
        var received: [Int]
        /// Seconds from the request's beginning to the event.
        var delays: [Double] = []
        var sentAt: [Double] = []
    }

    private let size: Size =
        ProcessInfo.processInfo.environment["TILL_SOAK_SECONDS"].flatMap(Int.init).map {
            Size(
                users: Size.full.users, screens: Size.full.screens, changesPerSecond: Size.full.changesPerSecond,
                seconds: $0)
        } ?? .small

    /// The client of the requests that change something.
    private static let devices = OutgoingClient(connectionsPerHost: 8)

    private static func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    @Test func `no event is missed, and memory stays flat`() async throws {
        let till = try TillProcess()
        let issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        let server = try await ServeProcess(
            till,
            [
                "--live-events", "--profiles", "--jwt-issuer", TestIssuer.issuer, "--jwt-audience",
                TestIssuer.audience, "--jwt-keys", keys.path, "--log-level", "warning", "--maximum-connections", "4096",
                "--user-requests-per-minute", "100000",
            ])
        let seconds = Int64(Date.now.timeIntervalSince1970)
        let tokens = try (0..<size.users).map { try issuer.token(for: "user\($0)", at: seconds) }
        let counts = (0..<size.users).map { _ in
            Box(Counts(received: [Int](repeating: 0, count: size.screens)))
        }
        let ready = Mutex(0)
        var listeners: [EventListener] = []
        for user in 0..<size.users {
            for screen in 0..<size.screens {
                listeners.append(
                    EventListener(server.url, token: tokens[user]) { event in
                        guard event.kind != "ready" else { return ready.withLock { $0 += 1 } }
                        counts[user].value.withLock { counts in
                            let index = counts.received[screen]
                            counts.received[screen] += 1
                            guard index < counts.sentAt.count else { return }
                            counts.delays.append(event.receivedAt - counts.sentAt[index])
                        }
                    })
            }
            // The listeners connect one after the other.
            if user.isMultiple(of: 10) {
                await expectEventually { ready.withLock { $0 } >= listeners.count - 40 }
            }
        }
        await expectEventually { ready.withLock { $0 } == listeners.count }
        let before = try Self.memory(of: server)
        let changes = try await change(tokens, counts, at: server.url)
        // The events of all answered requests are on their way.
        let expected = changes * size.screens
        await expectEventually {
            counts.allSatisfy { $0.value.withLock { $0.received.allSatisfy { $0 >= changes / size.users } } }
        }
        let received = counts.map { $0.value.withLock { $0.received.reduce(0, +) } }.reduce(0, +)
        #expect(received == expected)
        let delays = counts.flatMap { $0.value.withLock(\.delays) }.sorted()
        let after = try Self.memory(of: server)
        let (median, p99) = (delays[delays.count / 2] * 1000, delays[delays.count * 99 / 100] * 1000)
        print(
            "\(listeners.count) listeners, \(changes) changes, \(received) of \(expected) events seen; from the request to the "
                + "screen \(Int(median)) ms at the median, \(Int(p99)) ms at p99; memory \(before / 1024) MB with all listening, "
                + "\(after / 1024) MB after.")
        #expect(after < before + before / 4)
        #expect(listeners.allSatisfy { !$0.hasEnded })
        #expect(await server.end(SIGTERM) == 0)
    }

    /// Changes the profile of each user in turn, at a fixed rate.
    ///
    /// - Returns: The number of answered requests, the same for each user.
    private func change(_ tokens: [String], _ counts: [Box], at url: URL) async throws -> Int {
        let all = size.changesPerSecond * size.seconds / size.users * size.users
        let (size, start) = (size, Self.now())
        let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
            var answered = 0
            for number in 0..<all {
                let due = start + Double(number) / Double(size.changesPerSecond)
                // A load has a fixed rate and does not wait for answers.
                try await Task.sleep(for: .seconds(max(0, due - Self.now())))
                let user = number % size.users
                let (token, box) = (tokens[user], counts[user])
                group.addTask {
                    // Each request causes one event, in any order.
                    var request = OutgoingRequest(
                        .patch, url.appending(path: "/v1/me/profile").absoluteString,
                        body: Array(#"{"nickname":"Mint"}"#.utf8))
                    request.add("Authorization", "Bearer \(token)")
                    box.value.withLock { $0.sentAt.append(Self.now()) }
                    let limits = OutgoingLimits(answer: .seconds(30), body: .whole(upTo: 1 << 16))
                    return try await Self.devices.send(request, limits).status == 200
                }
                if number > 64, try await group.next() == true { answered += 1 }
            }
            for try await isDone in group where isDone { answered += 1 }
            return answered
        }
        #expect(answered == all)
        return all
    }

    /// A lock that an array can store.
    private final class Box: Sendable {
        let value: Mutex<Counts>

        init(_ counts: Counts) { value = Mutex(counts) }
    }

    /// The resident memory of a process, in KB; 0 if the system does not report it.
    private static func memory(of server: ServeProcess) throws -> Int {
        guard let status = try? String(contentsOfFile: "/proc/\(server.processIdentifier)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
