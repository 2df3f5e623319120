import Foundation
import NIOCore
import Proofs

/// Attack 10: customers whom strangers invent with an app's public key, as fast as they can. They state attributes, present one
/// genuine purchase for each, and log in from a customer who has paid.
struct InventedCustomers: Attack {
    let addressCount: Int

    /// The smallest budget of the service is 1 MiB, of which an address has a part. The rate of requests is no limit.
    let serviceOptions =
        DoorRequests.serviceOptions + [
            "--newcomer-megabytes-per-day", "1", "--address-newcomer-kilobytes-per-day", String(kilobytesOfAddress),
            "--address-requests-per-minute", "10000000",
        ]

    private static let kilobytesOfAddress = 256
    /// The users of the probes, at most.
    private static let ownUsers = 100

    /// A customer with a purchase.
    private static let buyer = "buyer"

    private let manyAttributes = DoorRequests.attributes(100, nameSize: 160, valueSize: 2000)
    private let oneAttribute = DoorRequests.attributes(1, nameSize: 1, valueSize: 1)
    /// The buyer's purchase.
    private let bought: String
    /// A genuine purchase of another app.
    private let foreign: String

    init(addressCount: Int) throws {
        self.addressCount = addressCount
        bought = try AttackFixture.transaction(0)
        foreign = try AttackFixture.transaction(0, changing: ["bundleId": "com.example.other"])
    }

    var name: String {
        "10, invented customers from \(addressCount == 1 ? "one address" : "\(addressCount) addresses")"
    }

    /// New customers who buy, and attributes of a customer who has bought.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        _ = try await client.answer(to: fixture.door.receipt(bought, of: Self.buyer))
        let visits = (0..<100).map { number in
            fixture.door.attributes(
                #"{"visits":{"value":"\#(number)","updated_at_ms":\#(number)}}"#, of: Self.buyer)
        }
        return [
            try .purchase(fixture) { "payer-\($0)" },
            Probe("attributes", every: .milliseconds(250), expecting: 200, visits),
        ]
    }

    func start(by attacker: Attacker) async throws {
        let door = attacker.door
        attacker.hold(32, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { number in
            RepeatingHandler(first: number) { request($0, door) }
        }
    }

    private func request(_ turn: Int, _ door: DoorRequests) -> ByteBuffer {
        let customer = DoorRequests.anonymous()
        return switch turn % 5 {
        case 0: door.attributes(manyAttributes, of: customer)
        case 1: door.attributes(oneAttribute, of: customer)
        case 2: door.receipt(bought, of: customer)
        case 3: door.receipt(foreign, of: customer)
        default: door.logIn(Self.buyer, as: customer)
        }
    }

    /// The customers, each of whom takes 1 KiB of the budget at least, and the last of the buyer's attributes.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        let answer = try await client.answer(to: fixture.door.customer(Self.buyer))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let info = try decoder.decode(CustomerInfo.self, from: Data(answer.body.utf8))
        let visits = info.subscriber.subscriberAttributes["visits"].flatMap { Int($0.value) }
        let budget = min(1024, addressCount * Self.kilobytesOfAddress)
        return [
            Finding("customers", try await fixture.users(), in: 0...budget + Self.ownUsers),
            Finding("recorded visits of the buyer", visits ?? 0, in: 1...Int.max),
        ]
    }
}

private struct CustomerInfo: Decodable {
    struct Subscriber: Decodable {
        struct Attribute: Decodable {
            let value: String
        }

        let subscriberAttributes: [String: Attribute]
    }

    let subscriber: Subscriber
}
