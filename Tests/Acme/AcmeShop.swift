import Foundation
import Proofs
import Synchronization

/// acme itself: it sells, signs with its own key, and answers questions about contracts.
package final class AcmeShop: Sendable {
    package struct UnknownContract: Error {}

    private let key: PrivateKey
    private let clock: any WallClock
    private let contracts = Mutex<[String: AcmeStatement]>([:])
    private let messages = Mutex(0)

    package init(clock: any WallClock) throws {
        (key, self.clock) = (try PrivateKey.generate(.p256), clock)
    }

    package var publicKey: PublicKey { key.publicKey }

    /// The contracts, in the order of their sale.
    package var all: [String] {
        contracts.withLock { $0.keys.sorted { Int($0.dropFirst()) ?? 0 < Int($1.dropFirst()) ?? 0 } }
    }

    /// Sells something, and returns its contract.
    package func sell(
        _ charge: AcmeStatement.Charge, of app: String, to customer: UUID?, next: AcmeStatement.Next? = nil,
        isTest: Bool = false
    ) -> String {
        let now = clock.now()
        return contracts.withLock { contracts in
            let contract = "C\(contracts.count + 1)"
            contracts[contract] = AcmeStatement(
                app: app, isTest: isTest, contract: contract, customer: customer, charges: [charge], next: next,
                statedAt: now)
            return contract
        }
    }

    /// The contract as it is now.
    package func contract(_ contract: String) throws -> AcmeStatement {
        guard var statement = contracts.withLock({ $0[contract] }) else { throw UnknownContract() }
        statement.statedAt = clock.now()
        return statement
    }

    /// Changes a contract.
    package func change(_ contract: String, _ change: (inout AcmeStatement) -> Void) throws {
        try contracts.withLock {
            guard var statement = $0[contract] else { throw UnknownContract() }
            change(&statement)
            $0[contract] = statement
        }
    }

    /// The newest statement about a contract, sealed; nil for an unknown one.
    package func answer(about contract: String) throws -> [UInt8]? {
        guard let statement = try? self.contract(contract) else { return nil }
        return try AcmeSeal.seal(statement, with: key)
    }

    /// The ticket of a contract, which its customer presents.
    package func ticket(of contract: String) throws -> String {
        String(decoding: try AcmeSeal.seal(AcmeTicket(of: try self.contract(contract)), with: key), as: UTF8.self)
    }

    /// A message about a contract.
    package func notification(_ type: String, about contract: String) throws -> [UInt8] {
        let number = messages.withLock { number in
            number += 1
            return number
        }
        return try AcmeSeal.seal(
            AcmeNotification("acme-\(number)", type, try self.contract(contract)), with: key)
    }
}
