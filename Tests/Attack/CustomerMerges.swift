import Entitlements
import Foundation
import Ledger
import NIOCore
import Proofs
import Service
import TestSupport

/// Attack 12: log-ins that move as many records as possible, or that are refused after counting them, and further ids of one
/// customer.
struct CustomerMerges: Attack {
    let name = "12, merges of customers"
    let serviceOptions =
        DoorRequests.serviceOptions + [
            "--webhooks", "--webhook-private-addresses", "--address-requests-per-minute", "10000000",
        ]
    let addressCount = 8
    /// The preparation also takes some seconds.
    let duration = Duration.seconds(5)

    private static let largeCustomers = 2
    /// A purchase is two records: the transaction and the time for which it gives the item. A few records are left for the rest.
    private static let purchasesOfLarge = LogIn.maximumRecords / 2 - 10
    /// A known customer to whom strangers give further ids.
    private static let victim = "victim"
    private static let oneAttribute = DoorRequests.attributes(1, nameSize: 1, valueSize: 1)

    private let large = (0..<largeCustomers).map { _ in DoorRequests.anonymous() }
    /// A customer with twice as many records.
    private let giant = DoorRequests.anonymous()
    private let receipts: [String]
    private let receiver: WebhookReceiver

    init() async throws {
        let chain = try TestChains.rsa.get()
        receipts = try (0..<Self.largeCustomers + 2).map { customer in
            let purchases = (0..<Self.purchasesOfLarge).map { number in
                TestProofs.purchase(transactionIdentifier: String(3_000_000_000_000_000 + customer * 10_000 + number))
            }
            return Data(try TestProofs.signed(TestProofs.receipt(purchases), chain: chain)).base64EncodedString()
        }
        receiver = try await WebhookReceiver()
    }

    private static func known(_ number: Int) -> String { "known-\(number)" }

    /// Purchases of the victim.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        let door = fixture.door
        for (customer, receipt) in zip(large + [giant, giant], receipts) {
            _ = try await client.answer(to: door.receipt(receipt, of: customer))
        }
        let buyers = large.indices.map(Self.known) + [Self.victim]
        for (number, buyer) in buyers.enumerated() {
            _ = try await client.answer(to: door.receipt(try AttackFixture.transaction(2000 + number), of: buyer))
        }
        for _ in 0...UserRecords.maximumAliases {
            _ = try await client.answer(to: door.logIn(DoorRequests.anonymous(), as: Self.victim))
        }
        let hooks = try await fixture.makeKey("hooks", scopes: ["webhooks"])
        _ = try await client.answer(
            to: .request(
                "POST", "/v1/webhooks", fields: ["Authorization": "Bearer \(hooks)"],
                json: #"{"url":"\#(receiver.url)","format":"revenuecat"}"#), expecting: 201)
        return [try .purchase(fixture) { _ in Self.victim }]
    }

    func start(by attacker: Attacker) async throws {
        let (door, head) = (attacker.door, DoorRequests.anonymous())
        let merges = large.indices.map { door.logIn(large[$0], as: Self.known($0)) }
        attacker.hold(1, openedEvery: .zero, replacedAfter: .zero) { _ in
            RepeatingHandler(pause: .seconds(1)) { merges[$0 % merges.count] }
        }
        attacker.hold(16, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { _ in
            RepeatingHandler { _ in door.logIn(giant, as: DoorRequests.anonymous()) }
        }
        attacker.hold(16, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { _ in
            var next = head
            return RepeatingHandler { turn in
                switch turn % 3 {
                case 0:
                    next = DoorRequests.anonymous()
                    return door.attributes(Self.oneAttribute, of: next)
                case 1: return door.logIn(head, as: next)
                default: return door.logIn(DoorRequests.anonymous(), as: Self.victim)
                }
            }
        }
    }

    /// The ids of the customers, and the sizes of the messages about them.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        let key = try await fixture.makeKey("export", scopes: ["export"])
        func archive(of customer: String) async throws -> UserArchiveResource {
            let answer = try await client.answer(
                to: .request(
                    "GET", "/v1/users/\(customer)/export?issuer=customer", fields: ["Authorization": "Bearer \(key)"]))
            return try JSONDecoder().decode(UserArchiveResource.self, from: Data(answer.body.utf8))
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let received = receiver.received
        let messages = try received.map { try decoder.decode(Message.self, from: $0.jsonData).event }
        let purchases = Self.purchasesOfLarge + 1
        return [
            Finding(
                "aliases of the victim", try await archive(of: Self.victim).aliases?.count ?? 0,
                in: 0...UserRecords.maximumAliases),
            Finding(
                "purchases of a merged customer", try await archive(of: Self.known(0)).transactions.count,
                in: purchases...purchases),
            Finding("ids in a message", messages.map(\.identifiers).max() ?? 0, in: 10...10),
            Finding("bytes of a message", received.map(\.body.utf8.count).max() ?? 0, in: 0...4096),
        ]
    }
}

/// A message in RevenueCat's format.
private struct Message: Decodable {
    struct Event: Decodable {
        let aliases: [String]?
        let transferredFrom: [String]?
        let transferredTo: [String]?

        var identifiers: Int { [aliases, transferredFrom, transferredTo].map { $0?.count ?? 0 }.max() ?? 0 }
    }

    let event: Event
}
