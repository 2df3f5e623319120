import AppStore
import Foundation
import Proofs
import Synchronization
import TestSupport
import Testing

/// The PostgreSQL nodes that `make test-failover` has started.
private enum DatabaseCluster {
    /// A failure of the primary, as the cluster's script names it.
    enum Fault: String {
        /// SIGKILL to PostgreSQL and its keeper.
        case kill
        /// Packets to and from the primary are lost silently.
        case cut

        var participle: String { self == .kill ? "killed" : "cut off" }
    }

    private static let environment = ProcessInfo.processInfo.environment
    /// The address of all nodes.
    static let address = environment["TILL_FAILOVER"] ?? ""
    /// The path of the cluster's script; nil if there is no cluster.
    static let script = environment["TILL_FAILOVER_SCRIPT"]
    static let rounds = environment["TILL_FAILOVER_ROUNDS"].flatMap(Int.init) ?? 10
    /// The faults, in turn. The first primary is the first node of the address, whose silence delays each new connection.
    static let faults: [Fault] = environment["TILL_FAILOVER_KILLS_ONLY"] == nil ? [.cut, .kill] : [.kill]

    /// - Parameter command: A fault, or `restore`.
    static func run(_ command: String, in folder: URL) async throws {
        try await Tool.run("bash", [try #require(script), command], in: folder)
    }

    /// The address of the primary.
    static func primary() throws -> String {
        let found = try TestSchema.execute(
            "SELECT host(inet_server_addr()) || ':' || inet_server_port()",
            at: address + "?target_session_attrs=read-write")
        return try #require(found.first)
    }
}

/// A load of devices. Each redeems a sale at two services at the same time, and pauses before the next one.
private final class DeviceLoad: Sendable {
    struct NoAnswers: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var waiting: ArraySlice<SalesLoad.Sale>
        var isStopped = false
        /// The moments of each service's acknowledgements.
        var answers: [[ContinuousClock.Instant]]
        var acknowledged: Set<String> = []
        /// The number of redemptions without an acknowledgement, by reason.
        var failures: [String: Int] = [:]
    }

    private static let devices = 150
    private static let longestPause = 8.0
    private static let timeout = Duration.seconds(60)

    private let urls: [URL]
    private let key: String
    private let end = ContinuousClock.now + .seconds(240)
    private let state: Mutex<State>

    /// - Parameter urls: The services, two at least.
    init(_ sales: ArraySlice<SalesLoad.Sale>, at urls: [URL], key: String) {
        self.urls = urls
        self.key = key
        state = Mutex(State(waiting: sales, answers: urls.map { _ in [] }))
    }

    /// The transactions that a service has acknowledged.
    var acknowledged: Set<String> { state.withLock { $0.acknowledged } }

    var failures: [String: Int] { state.withLock { $0.failures } }

    /// The longest time without an acknowledgement of one service.
    var longestGap: Duration {
        let answers = state.withLock { $0.answers }
        let gaps: [Duration] = answers.flatMap { moments in
            zip(moments, moments.dropFirst()).map { earlier, later in later - earlier }
        }
        return gaps.max() ?? .zero
    }

    /// Redeems sales until the load is stopped, no sale is left, or four minutes are over.
    func run() async throws {
        let clients = urls.map { ServiceClient(url: $0, credential: key) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.devices {
                group.addTask { await self.runDevice(clients) }
            }
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until each service has acknowledged some sales after a moment.
    ///
    /// - Throws: `NoAnswers` after a minute.
    func waitForAnswers(_ count: Int, after moment: ContinuousClock.Instant) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        while ContinuousClock.now < deadline {
            let answers = state.withLock { $0.answers }
            if answers.allSatisfy({ moments in moments.filter { $0 > moment }.count >= count }) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoAnswers(
            description: "A service has acknowledged fewer than \(count) sales in a minute; failures: \(failures)")
    }

    private func runDevice(_ clients: [ServiceClient]) async {
        while true {
            try? await Task.sleep(for: .seconds(Double.random(in: 0..<Self.longestPause)))
            guard let sale = nextSale() else { return }
            let first = Int.random(in: 0..<clients.count)
            async let one: Void = handIn(sale, to: first, of: clients)
            async let other: Void = handIn(sale, to: (first + 1) % clients.count, of: clients)
            _ = await (one, other)
        }
    }

    private func nextSale() -> SalesLoad.Sale? {
        guard !Task.isCancelled, ContinuousClock.now < end else { return nil }
        return state.withLock { $0.isStopped ? nil : $0.waiting.popFirst() }
    }

    private func handIn(_ sale: SalesLoad.Sale, to service: Int, of clients: [ServiceClient]) async {
        let failure = await failure(of: sale, at: clients[service])
        state.withLock { state in
            if let failure {
                state.failures[failure, default: 0] += 1
            } else {
                state.answers[service].append(.now)
                state.acknowledged.insert(sale.transaction)
            }
        }
    }

    /// - Returns: The reason of the failure; nil if the device may finish the transaction.
    private func failure(of sale: SalesLoad.Sale, at client: ServiceClient) async -> String? {
        do {
            let connection = HTTPServiceConnection(client: client, user: sale.user)
            let answer = try await connection.redeem(sale.proof)
            return answer.transactions.first?.mayFinish == true ? nil : "unfinished"
        } catch let error as ServiceUnreachable {
            // "HTTP status 503, storageUnreachable", for instance.
            return error.reason
        } catch {
            return "\(error)"
        }
    }
}

/// Three services on one ledger in a PostgreSQL cluster, whose primary is killed or cut off under load, round by round.
@Suite(.enabled(if: DatabaseCluster.script != nil)) struct ClusterFailOverTests {
    private static let services = 3
    private static let salesInRound = 2000
    private static let longestGap = Duration.seconds(20)

    private let till: TillProcess
    private let load: SalesLoad
    private let key: String

    init() async throws {
        till = try TillProcess(hasKeys: false)
        let ledger = ["--ledger", DatabaseCluster.address]
        load = try await SalesLoad(DatabaseCluster.rounds * Self.salesInRound, of: till, ledger)
        let made = try await till.run(arguments: ["keys", "make", "devices", "--json"] + ledger)
        key = try made.decoded(MadeKey.self).key
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(
            till, ["--log-level", "warning"],
            environment: ["TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_LEDGER": DatabaseCluster.address])
    }

    @Test func `writes resume within 20 s of each failover, and acknowledged sales are stored once`() async throws {
        if !DatabaseCluster.faults.contains(.cut) {
            print("Network namespaces cannot be created here: the primary is killed, and never cut off.")
        }
        var services: [ServeProcess] = []
        for _ in 0..<Self.services { services.append(try await serve()) }
        var acknowledged: Set<String> = []
        for round in 0..<DatabaseCluster.rounds {
            let fault = DatabaseCluster.faults[round % DatabaseCluster.faults.count]
            let primary = try DatabaseCluster.primary()
            let sales = load.sales[round * Self.salesInRound..<(round + 1) * Self.salesInRound]
            let devices = DeviceLoad(sales, at: services.map(\.url), key: key)
            try await play(fault, devices)
            acknowledged.formUnion(devices.acknowledged)
            let seconds: Double = devices.longestGap / Duration.seconds(1)
            print(
                "Round \(round + 1): primary \(primary) \(fault.participle); "
                    + "\((seconds * 10).rounded() / 10) s at most without an acknowledged sale at a service; "
                    + "\(devices.acknowledged.count) sales acknowledged.")
            #expect(devices.longestGap <= Self.longestGap, "round \(round + 1)")
            // The services answered each redemption, and none with 503.
            #expect(devices.failures == [:], "round \(round + 1)")
            for service in services {
                let stored = try await load.redeemed(at: service)
                #expect(Set(stored).count == stored.count, "round \(round + 1)")
                #expect(acknowledged.subtracting(stored) == [], "round \(round + 1)")
            }
        }
        for service in services { #expect(await service.end(SIGTERM) == 0) }
        let checked = try await till.run("ledger", "check", "--ledger", DatabaseCluster.address)
        #expect(checked.status == 0, "\(checked.output)")
    }

    /// Ends the load only after the old primary has returned: for a moment it accepts connections as if it were still one.
    private func play(_ fault: DatabaseCluster.Fault, _ devices: DeviceLoad) async throws {
        async let running: Void = devices.run()
        try await devices.waitForAnswers(100, after: .now)
        try await DatabaseCluster.run(fault.rawValue, in: till.folder.url)
        // Commits of the old primary may still be answered in the first second.
        try await devices.waitForAnswers(10, after: ContinuousClock.now + .seconds(1))
        try await DatabaseCluster.run("restore", in: till.folder.url)
        try await Task.sleep(for: .seconds(2))
        devices.stop()
        try await running
    }
}
