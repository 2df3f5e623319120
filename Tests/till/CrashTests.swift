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

    let till: TillProcess
    let key: String
    private let sales: [Sale]

    init() async throws {
        till = try TillProcess(hasKeys: false)
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        key = try #require(try await till.run("keys", "make", "load", "--json").json()["key"] as? String)
        sales = try (0..<600).map { number in
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

    @Test func whatWasAnsweredOutlivesAKillUnderLoadAndNothingIsThereTwice() async throws {
        let first = try await serve()
        let isKilled = Mutex(false)
        // Each sale twice, as devices do that have not heard an answer.
        let answered = try await redeem(zip(sales, sales).flatMap { [$0, $1] }, at: first.url) { count in
            let isFirst = isKilled.withLock { killed in
                defer { killed = killed || count >= 150 }
                return count >= 150 && !killed
            }
            if isFirst { first.kill() }
        }
        #expect(answered.count >= 150)
        #expect(answered.count < sales.count)

        let second = try await serve()
        let kept = try await redeemed(at: second)
        #expect(Set(kept).count == kept.count)
        #expect(Set(answered.map(\.transaction)).subtracting(kept) == [])
        // What was not answered is handed in again, as a device does; in the end all is there, once.
        #expect(try await redeem(sales, at: second.url).count == sales.count)
        #expect(try await redeemed(at: second).sorted() == sales.map(\.transaction))
        #expect(await second.end(SIGTERM) == 0)
    }
}
