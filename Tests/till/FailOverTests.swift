import Foundation
import Synchronization
import TestSupport
import Testing

/// A primary and its synchronous standby, which `make test-postgres` has started.
private enum ServerPair {
    /// The address of both servers.
    static let address = ProcessInfo.processInfo.environment["TILL_POSTGRES_PAIR"] ?? ""
    /// The path of the script that controls the servers; nil if there are none.
    static let script = ProcessInfo.processInfo.environment["TILL_POSTGRES_PAIR_SCRIPT"]

    /// - Parameter what: The command of the script.
    static func run(_ what: String, in folder: URL) async throws {
        try await Tool.run("bash", [try #require(script), what], in: folder)
    }

    /// The processes of the server that wait for the standby.
    static func waiting() throws -> [String] {
        try TestSchema.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'till' AND wait_event = 'SyncRep'", at: address)
    }
}

/// Services on one ledger in PostgreSQL, whose standby hangs, and whose primary is killed under load.
@Suite(.enabled(if: ServerPair.script != nil), .serialized) struct FailOverTests {
    private static let sales = 1500

    private func serve(_ till: TillProcess) async throws -> ServeProcess {
        try await ServeProcess(
            till, ["--log-level", "warning"],
            environment: ["TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_LEDGER": ServerPair.address])
    }

    /// A service reads a key from the server once a second.
    @Test func `a key that another process has revoked is soon refused`() async throws {
        let till = try TillProcess(hasKeys: false)
        let ledger = ["--ledger", ServerPair.address]
        let made = try await till.run(arguments: ["keys", "make", "reader", "--json"] + ledger).decoded(MadeKey.self)
        let service = try await serve(till)
        #expect(try await service.curl("/v1/products", key: made.key).status == 200)
        #expect(try await till.run(arguments: ["keys", "revoke", made.id] + ledger).status == 0)
        try await expectEventually { try await service.curl("/v1/products", key: made.key).status == 401 }
        #expect(await service.end(SIGTERM) == 0)
    }

    /// This holds even if the primary has the commit and closes the connection.
    @Test func `a redemption is not answered before the standby has it`() async throws {
        let till = try TillProcess(hasKeys: false)
        let load = try await SalesLoad(1, from: 9_000_000, of: till, ["--ledger", ServerPair.address])
        let service = try await serve(till)
        try await ServerPair.run("stop-standby", in: till.folder.url)
        let answers = Mutex(0)
        async let redeemed = load.redeem(load.sales, at: [service.url]) { count in answers.withLock { $0 = count } }
        try await expectEventually { try ServerPair.waiting().count == 1 }
        let process = try #require(try ServerPair.waiting().first)
        // The primary has committed by then, and the caller gets no answer.
        try TestSchema.execute("SELECT pg_terminate_backend(\(process))", at: ServerPair.address)
        try await expectEventually { try ServerPair.waiting().contains { $0 != process } }
        #expect(answers.withLock { $0 } == 0)
        try await ServerPair.run("continue-standby", in: till.folder.url)
        #expect(await redeemed.count == 1)
        #expect(try await load.redeemed(at: service) == load.sales.map(\.transaction))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a failover loses no answered redemption, and grants none twice`() async throws {
        let till = try TillProcess(hasKeys: false)
        let load = try await SalesLoad(Self.sales, of: till, ["--ledger", ServerPair.address])
        let services = [try await serve(till), try await serve(till)]
        let urls = services.map(\.url)
        let moment = Int.random(in: 100..<Self.sales - 500)
        let (reached, isReached) = AsyncStream<Void>.makeStream()
        async let failOver: Void = {
            for await _ in reached { break }
            try await ServerPair.run("fail-over", in: till.folder.url)
        }()
        // A device without an answer sends a proof again, so each sale goes to both services.
        var answered = await load.redeem(load.sales.flatMap { [$0, $0] }, at: urls) { count in
            if count >= moment { isReached.yield() }
        }
        isReached.finish()
        try await failOver
        let before = answered.count
        var waiting = load.sales.filter { !answered.contains($0) }
        for _ in 0..<20 where !waiting.isEmpty {
            // A device sends each unanswered proof again.
            answered.formUnion(await load.redeem(waiting, at: urls.reversed()))
            waiting = load.sales.filter { !answered.contains($0) }
        }
        for service in services {
            #expect(try await load.redeemed(at: service).sorted() == load.sales.map(\.transaction))
        }
        print(
            "Failed over after \(moment) answers; \(before) of \(Self.sales) answered at the first attempt, all there once."
        )
        for service in services { #expect(await service.end(SIGTERM) == 0) }
        let checked = try await till.run("ledger", "check", "--ledger", ServerPair.address)
        #expect(checked.status == 0, "\(checked.output)")
    }
}
