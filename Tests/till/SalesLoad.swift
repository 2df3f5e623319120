import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A load of sales that many devices redeem at once, and the transactions that the service has afterwards.
struct SalesLoad {
    struct Sale: Hashable {
        let user: User
        let transaction: String
        let proof: Proof

        static func == (left: Sale, right: Sale) -> Bool { left.transaction == right.transaction }

        func hash(into hasher: inout Hasher) { hasher.combine(transaction) }
    }

    private static let connections = 200

    let sales: [Sale]
    private let key: String
    /// The public key of the app; nil if no sale uses the door of RevenueCat's SDKs.
    private let publicKey: String?

    /// Makes the sales, and adds their root to the certificates that the service trusts.
    ///
    /// - Parameters:
    ///   - first: The number of the first sale. The users' names contain it.
    ///   - usesDoor: True if every second sale uses the door of RevenueCat's SDKs.
    ///   - arguments: Further arguments of `till keys make`.
    init(
        _ count: Int,
        from first: Int = 0,
        of till: TillProcess,
        usesDoor: Bool = false,
        _ arguments: [String] = []
    ) async throws {
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        let made = try await till.run(arguments: ["keys", "make", "load", "--json"] + arguments)
        key = try made.decoded(MadeKey.self).key
        publicKey =
            usesDoor
            ? try await till.run(
                arguments: ["keys", "make", "--public", "--bundle-id", "com.memolease.sesac1"] + arguments
            ).output.trimmingCharacters(in: .newlines) : nil
        sales = try (first..<first + count).map { number in
            let transaction = String(2_000_000_000_000_000 + number)
            let payload = TestProofs.transactionPayload(transactionId: transaction)
            let proof = try TestProofs.transaction(payload, chain: chain)
            // A customer with very many purchases would take most of the time at the door.
            let name = "user\(first + number % max(20, count / 300))"
            let user = usesDoor && number % 2 == 1 ? CustomerIdentifier(name)?.user : User(name: name)
            return Sale(
                user: try #require(user), transaction: transaction,
                proof: .signedTransaction(String(decoding: proof, as: UTF8.self)))
        }
    }

    /// Sends every sale over many connections at once.
    ///
    /// - Returns: The sales that the device may finish, by the service's answer.
    ///
    /// - Parameters:
    ///   - urls: The addresses of services on one ledger. Each receives an equal part of the sales.
    ///   - onAnswer: Receives the number of answered requests.
    func redeem(
        _ sales: [Sale],
        at urls: [URL],
        onAnswer: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> Set<Sale> {
        let sdk = OutgoingClient(connectionsPerHost: Self.connections, idleTime: .seconds(1))
        let clients = urls.map { ServiceClient(url: $0, credential: key) }
        @Sendable func send(_ sale: Sale, _ number: Int) async -> Sale? {
            if let publicKey, sale.user.issuer == User.customerIssuer {
                let url = urls[number % urls.count]
                return await Self.isFinished(sale, by: sdk, at: url, publicKey) ? sale : nil
            }
            let connection = HTTPServiceConnection(client: clients[number % clients.count], user: sale.user)
            let answer = try? await connection.redeem(sale.proof)
            return answer?.transactions.first?.mayFinish == true ? sale : nil
        }
        return await withTaskGroup(of: Sale?.self) { group in
            var answered: Set<Sale> = []
            var waiting = sales.enumerated().makeIterator()
            for _ in 0..<Self.connections {
                guard let (number, sale) = waiting.next() else { break }
                group.addTask { await send(sale, number) }
            }
            while let sale = await group.next() {
                if let sale { answered.insert(sale) }
                onAnswer(answered.count)
                if let (number, next) = waiting.next() { group.addTask { await send(next, number) } }
            }
            return answered
        }
    }

    /// Sends a sale as RevenueCat's SDKs do. They finish a transaction after each answer below 500.
    private static func isFinished(_ sale: Sale, by sdk: OutgoingClient, at url: URL, _ key: String) async -> Bool {
        guard case .signedTransaction(let proof) = sale.proof else { return false }
        let body = JSONValue.object(["app_user_id": .string(sale.user.name), "fetch_token": .string(proof)])
        var request = OutgoingRequest(
            .post, url.appending(path: "v1/receipts").absoluteString, body: Array(body.compactText.utf8))
        request.add("Authorization", "Bearer \(key)")
        let limits = OutgoingLimits(answer: .seconds(30), body: .whole(upTo: 1 << 20))
        guard let answer = try? await sdk.send(request, limits) else { return false }
        return answer.status < 500
    }

    /// The transactions of all users in the service, unordered.
    func redeemed(at server: ServeProcess) async throws -> [String] {
        let client = ServiceClient(url: server.url, credential: key)
        var found: [String] = []
        for user in Set(sales.map(\.user)) {
            let issuer = user.issuer.isEmpty ? "" : "&issuer=\(user.issuer)"
            var cursor = ""
            repeat {
                let page: List<TransactionResource> = try await client.get(
                    "/v1/users/\(user.name)/transactions?pageSize=100\(issuer)\(cursor)")
                found += page.elements.map(\.transactionId)
                cursor = page.nextCursor.map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
        }
        return found
    }
}
