import AsyncHTTPClient
import Commerce
import Device
import Foundation
import Receipts
import Signatures
import Synchronization
import TestSupport
import Testing

/// The service, killed in the middle of its work.
@Suite struct CrashTests {
    private struct Sale: Hashable {
        let user: User
        let transaction: String
        let proof: Proof

        static func == (left: Sale, right: Sale) -> Bool { left.transaction == right.transaction }

        func hash(into hasher: inout Hasher) { hasher.combine(transaction) }
    }

    /// What `GET …/transactions` answers.
    private struct TransactionPage: Decodable {
        struct Transaction: Decodable {
            let transactionId: String
        }

        let transactions: [Transaction]
        let nextCursor: String?
    }

    private static let connections = 200
    private static let salesInRound = 300
    private static let rounds = ProcessInfo.processInfo.environment["TILL_CRASH_ROUNDS"].flatMap(Int.init) ?? 2

    let till: TillProcess
    let key: String
    private let sales: [Sale]

    init() async throws {
        till = try TillProcess(hasKeys: false)
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        key = try #require(try await till.run("keys", "make", "load", "--json").json()["key"] as? String)
        sales = try (0..<Self.rounds * Self.salesInRound).map { number in
            let transaction = String(2_000_000_000_000_000 + number)
            let payload = TestProofs.transactionPayload(transactionId: transaction)
            let proof = try TestProofs.transaction(payload, chain: chain)
            return Sale(
                user: try #require(User(name: "user\(number % 20)")), transaction: transaction,
                proof: .signedTransaction(String(decoding: proof, as: UTF8.self)))
        }
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(
            till, ["--log-level", "warning"], environment: ["TILL_REQUESTS_PER_MINUTE": "1000000"])
    }

    /// Hands in every sale over many connections at once; answers those of which the service has said that the device may
    /// finish.
    ///
    /// - Parameter onAnswer: Told how many have been answered.
    private func redeem(
        _ sales: [Sale],
        at url: URL,
        onAnswer: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Set<Sale> {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.connections
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { [key] http in
            let client = ServiceClient(client: http, url: url, credential: key)
            return await withTaskGroup(of: Sale?.self) { group in
                var answered: Set<Sale> = []
                var waiting = sales[...]
                @Sendable func send(_ sale: Sale) async -> Sale? {
                    let answer = try? await HTTPServiceConnection(client: client, user: sale.user).redeem(sale.proof)
                    return answer?.transactions.first?.mayFinish == true ? sale : nil
                }
                for sale in waiting.prefix(Self.connections) { group.addTask { await send(sale) } }
                waiting = waiting.dropFirst(Self.connections)
                while let sale = await group.next() {
                    if let sale { answered.insert(sale) }
                    onAnswer(answered.count)
                    if let next = waiting.popFirst() { group.addTask { await send(next) } }
                }
                return answered
            }
        }
    }

    /// All that the service has of everybody's transactions, in no order.
    private func redeemed(at server: ServeProcess) async throws -> [String] {
        let client = ServiceClient(url: server.url, credential: key)
        var found: [String] = []
        for user in Set(sales.map(\.user)) {
            var cursor = ""
            repeat {
                let page: TransactionPage = try await client.get(
                    "/v1/users/\(user.name)/transactions?pageSize=100\(cursor)")
                found += page.transactions.map(\.transactionId)
                cursor = page.nextCursor.map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
        }
        return found
    }

    /// Rounds of it, each with sales of its own, on one ledger; `make crash-test` plays more.
    @Test func whatWasAnsweredOutlivesAKillUnderLoadAndNothingIsThereTwice() async throws {
        var answered: Set<Sale> = []
        for round in 0..<Self.rounds {
            let due = Array(sales[round * Self.salesInRound..<(round + 1) * Self.salesInRound])
            // At any moment of the load, the first and the last included.
            let moment = Int.random(in: 1..<Self.salesInRound)
            let server = try await serve()
            let isKilled = Mutex(false)
            // Each sale twice, as devices do that have not heard an answer.
            answered.formUnion(
                try await redeem(zip(due, due).flatMap { [$0, $1] }, at: server.url) { count in
                    let isFirst = isKilled.withLock { killed in
                        defer { killed = killed || count >= moment }
                        return count >= moment && !killed
                    }
                    if isFirst { server.kill() }
                })
            #expect(isKilled.withLock { $0 }, "round \(round)")
            #expect(await server.end(SIGKILL) == -SIGKILL)

            let next = try await serve()
            let kept = try await redeemed(at: next)
            #expect(Set(kept).count == kept.count, "round \(round), killed after \(moment) answers")
            #expect(
                Set(answered.map(\.transaction)).subtracting(kept) == [],
                "round \(round), killed after \(moment) answers")
            #expect(await next.end(SIGKILL) == -SIGKILL)
            print(
                "Round \(round): killed after \(moment) answers; \(answered.count) acknowledged so far, all there once."
            )
        }
        // What was not answered is handed in again, as a device does; in the end all is there, once.
        let last = try await serve()
        #expect(try await redeem(sales, at: last.url).count == sales.count)
        #expect(try await redeemed(at: last).sorted() == sales.map(\.transaction))
        #expect(await last.end(SIGTERM) == 0)
        let checked = try await till.run("ledger", "check")
        #expect(checked.status == 0, "\(checked.output)")
    }
}
