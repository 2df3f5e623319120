import AppStore
import Foundation
import HTTPSupport
import Synchronization
import TestSupport
import Testing

/// A primary and its synchronous standby, which `make test-postgres` has started.
private enum ServerPair {
    /// The address of both servers.
    static let address = ProcessInfo.processInfo.environment["TILL_POSTGRES_PAIR"] ?? ""
    /// The path of the script that controls the servers; nil if there are none.
    static let script = ProcessInfo.processInfo.environment["TILL_POSTGRES_PAIR_SCRIPT"]

    /// The port of the standby.
    static var standby: Int? { address.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) } }

    /// The address of the standby alone.
    static var standbyAddress: String {
        get throws { "postgres://till@127.0.0.1:\(try #require(standby))/till" }
    }

    @discardableResult static func runOnStandby(_ sql: String) throws -> [String] {
        try TestSchema.execute(sql, at: standbyAddress)
    }

    /// Lets the standby receive what is written, and show none of it.
    static func pauseReplay() async throws {
        try runOnStandby("SELECT pg_wal_replay_pause()")
        try await expectEventually { try runOnStandby("SELECT pg_get_wal_replay_pause_state()") == ["paused"] }
    }

    static func resumeReplay() throws { try runOnStandby("SELECT pg_wal_replay_resume()") }

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

/// A user who redeems sales at services on the pair, and reads them after positions.
private struct PositionReader {
    private let user: String
    private let proofs: [String]
    private let key: String
    private(set) var redeemed = 0

    private struct NoSale: Error {}

    /// - Parameter first: The number of the first sale, which is in the name of the user.
    init(_ till: TillProcess, from first: Int) async throws {
        user = "reader\(first)"
        let load = try await SalesLoad(50, from: first, of: till, ["--ledger", ServerPair.address])
        proofs = try load.sales.map { sale in
            guard case .signedTransaction(let proof) = sale.proof else { throw NoSale() }
            return proof
        }
        key = try await till.run(
            arguments: ["keys", "make", "reader", "--scope", "all", "--json", "--ledger", ServerPair.address]
        ).decoded(MadeKey.self).key
    }

    private var path: String { "/v1/users/\(user)/transactions" }

    /// Redeems the next sale.
    ///
    /// - Returns: The position of the answer.
    mutating func redeem(at service: ServeProcess) async throws -> String {
        redeemed += 1
        return try #require(try await redeemAgain(at: service).field("Till-Position"))
    }

    /// Sends the last sale with its idempotency key.
    func redeemAgain(at service: ServeProcess) async throws -> ServeProcess.Answer {
        guard redeemed <= proofs.count else { throw NoSale() }
        let answer = try await service.curl(
            path, key: key, body: #"{"signedTransaction":"\#(proofs[redeemed - 1])"}"#,
            options: ["--header", "Idempotency-Key: \(user)-\(redeemed)"])
        #expect(answer.status == 200)
        return answer
    }

    /// - Returns: The number of sales that an answer shows.
    func count(after position: String, at service: ServeProcess) async throws -> Int {
        let answer = try await service.curl(
            path + "?pageSize=100", key: key, options: ["--header", "Till-Position: \(position)"])
        #expect(answer.field("Till-Position") == position)
        return try answer.decoded(List<TransactionResource>.self).elements.count
    }

    /// Reads without a position.
    func read(at service: ServeProcess) async throws -> ServeProcess.Answer { try await service.curl(path, key: key) }

    func answersOfStandby(at service: ServeProcess) async throws -> Int {
        let text = String(decoding: try await service.curl("/metrics", key: key).body, as: UTF8.self)
        let counter = #"till_replica_reads_total{server="standby"} "#
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(counter) })
        return try #require(Int(line.dropFirst(counter.count)))
    }

    /// Returns true if a standby answers soon after a commit. The answer shows each sale, whoever gives it.
    func isAnsweredByStandby(after position: String, at service: ServeProcess) async throws -> Bool {
        // Ten seconds after the last commit, only the primary answers.
        try TestSchema.execute("SELECT txid_current()", at: ServerPair.address)
        let before = try await answersOfStandby(at: service)
        #expect(try await count(after: position, at: service) == redeemed)
        return try await answersOfStandby(at: service) > before
    }
}

/// Services on one ledger in PostgreSQL, whose standby hangs, and whose primary is killed under load.
@Suite(.enabled(if: ServerPair.script != nil), .serialized) struct FailOverTests {
    private static let sales = 1500

    private func serve(_ till: TillProcess, _ arguments: [String] = []) async throws -> ServeProcess {
        try await ServeProcess(
            till, ["--log-level", "warning"] + arguments,
            environment: ["TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_LEDGER": ServerPair.address])
    }

    /// A standby that replays nothing for a moment, or is gone, costs no reader an answer, nor the sight of what it has written.
    @Test func `a standby answers a reader whose position it has, and the primary all others`() async throws {
        let till = try TillProcess(hasKeys: false)
        var reader = try await PositionReader(till, from: 8_000_000)
        let line = try LossyLine(to: try #require(ServerPair.standby))
        let service = try await serve(till, ["--ledger-replicas", "postgres://till@127.0.0.1:\(line.port)/till"])
        let first = try await reader.redeem(at: service)
        try await expectEventually { try await reader.isAnsweredByStandby(after: first, at: service) }
        defer { try? ServerPair.resumeReplay() }
        // A slow machine may take more than the ten seconds in which the standby answers. Then the primary answers each read.
        try await expectEventually {
            try ServerPair.resumeReplay()
            guard try await reader.isAnsweredByStandby(after: first, at: service) else { return false }
            try await ServerPair.pauseReplay()
            let position = try await reader.redeem(at: service)
            #expect(try await reader.count(after: position, at: service) == reader.redeemed)
            return try await reader.count(after: first, at: service) < reader.redeemed
        }
        try ServerPair.resumeReplay()
        line.goAway()
        let last = try await reader.redeem(at: service)
        try await expectEventually {
            #expect(try await reader.count(after: last, at: service) == reader.redeemed)
            return try service.log.contains("no standby answers reads")
        }
        line.mend()
        try await expectEventually { try await reader.isAnsweredByStandby(after: last, at: service) }
        // Without a position, nothing is known of the reader.
        let before = try await reader.answersOfStandby(at: service)
        #expect(try await reader.read(at: service).field("Till-Position") != nil)
        #expect(try await reader.answersOfStandby(at: service) == before)
        #expect(await service.end(SIGTERM) == 0)
    }

    /// The last commit of the service that gives these answers is earlier than the redemption at the other one.
    @Test func `the primary answers soon after a repeated answer, and after a read without a position`() async throws {
        let till = try TillProcess(hasKeys: false)
        var reader = try await PositionReader(till, from: 7_000_000)
        let replicas = ["--ledger-replicas", try ServerPair.standbyAddress]
        let (first, second) = (try await serve(till, replicas), try await serve(till, replicas))
        let earlier = try await reader.redeem(at: first)
        try await expectEventually { try await reader.isAnsweredByStandby(after: earlier, at: first) }
        defer { try? ServerPair.resumeReplay() }
        try await ServerPair.pauseReplay()
        _ = try await reader.redeem(at: second)
        let repeated = try await reader.redeemAgain(at: first)
        #expect(repeated.field("Idempotent-Replayed") == "true")
        let position = try #require(repeated.field("Till-Position"))
        let before = try await reader.answersOfStandby(at: first)
        #expect(try await reader.count(after: position, at: first) == reader.redeemed)
        let shown = try #require(try await reader.read(at: first).field("Till-Position"))
        #expect(try await reader.count(after: shown, at: first) == reader.redeemed)
        #expect(try await reader.answersOfStandby(at: first) == before)
        try ServerPair.resumeReplay()
        let last = try await reader.redeem(at: first)
        try await expectEventually { try await reader.isAnsweredByStandby(after: last, at: first) }
        for service in [first, second] { #expect(await service.end(SIGTERM) == 0) }
    }

    /// A server whose processes hang still takes connections. If only those of the service hang, it even answers new ones.
    @Test func `a standby that hangs costs a reader no answer`() async throws {
        let till = try TillProcess(hasKeys: false)
        var reader = try await PositionReader(till, from: 6_000_000)
        let service = try await serve(till, ["--ledger-replicas", try ServerPair.standbyAddress])
        let position = try await reader.redeem(at: service)
        try await expectEventually { try await reader.isAnsweredByStandby(after: position, at: service) }
        let processes = try ServerPair.runOnStandby(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'till'"
        ).compactMap { pid_t($0) }
        #expect(!processes.isEmpty)
        for process in processes { kill(process, SIGSTOP) }
        defer { for process in processes { kill(process, SIGCONT) } }
        try await expectEventually {
            #expect(try await reader.count(after: position, at: service) == reader.redeemed)
            return try service.log.contains("the server does not answer")
        }
        try await expectEventually { try await reader.isAnsweredByStandby(after: position, at: service) }
        try await ServerPair.run("stop-standby", in: till.folder.url)
        for _ in 0..<10 { #expect(try await reader.count(after: position, at: service) == reader.redeemed) }
        try await ServerPair.run("continue-standby", in: till.folder.url)
        try await expectEventually { try await reader.isAnsweredByStandby(after: position, at: service) }
        #expect(await service.end(SIGTERM) == 0)
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
