import Commerce
import Entitlements
import HTTPSupport
import Hummingbird

/// The bytes that public callers may write in a day for customers without a purchase.
///
/// Anybody with an app's public key can invent customers, who would fill the disk of the ledger. A customer with a purchase is not
/// limited: the App Store vouches for the purchase.
struct NewcomerBudget: Sendable {
    /// The bytes that a new customer takes in the ledger: the name, the account token and the audit log.
    static let bytesOfCustomer = 1024

    private let service: TokenBuckets
    private let addresses: AddressBuckets

    init(_ limits: RequestLimits, clock: any WallClock) {
        service = TokenBuckets(.init(perDay: limits.newcomerBytesPerDay), clock: clock)
        addresses = AddressBuckets(.init(perDay: limits.newcomerBytesPerAddress), clock: clock)
    }

    /// Takes bytes for a client address, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    func take(_ bytes: Int, from address: String) -> Int? {
        if let seconds = service.take("", bytes) { return seconds }
        guard let seconds = addresses.take(bytes, from: address) else { return nil }
        service.returnTokens("", bytes)
        return seconds
    }
}

extension DoorServices {
    /// Takes the bytes that a caller writes for a customer without a purchase.
    ///
    /// - Returns: Nil if the caller may write, otherwise the seconds until the budget has the bytes.
    func secondsUntilWriting(_ bytes: Int, for customer: User, from address: String) async throws -> Int? {
        guard let newcomers else { return nil }
        let isNewcomer = try await entitlements.ledger.read { try !$0.hasPurchases(customer) }
        return isNewcomer ? newcomers.take(bytes, from: address) : nil
    }
}
