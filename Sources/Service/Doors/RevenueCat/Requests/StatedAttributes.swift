import Features
import Ledger
import Proofs

/// The attributes of a request: those that can be recorded, and the reasons against the others.
struct StatedAttributes: Sendable {
    private let attributes: [Attribute]
    let errors: [AttributeFailure]

    init(_ sent: [CustomerAttribute]) {
        var (attributes, errors): ([Attribute], [AttributeFailure]) = ([], [])
        for attribute in sent {
            do throws(AttributeError) {
                // RevenueCat removes an attribute by an empty value, too.
                attributes.append(
                    try Attribute(
                        name: attribute.name, value: attribute.value.flatMap { $0.isEmpty ? nil : $0 },
                        statedAt: attribute.updatedAt, isPublic: true))
            } catch {
                errors.append(AttributeFailure(name: attribute.name, message: error.message))
            }
        }
        (self.attributes, self.errors) = (attributes, errors)
    }

    /// Records the attributes.
    ///
    /// - Parameter newcomers: The caller's allowance for customers without a purchase; nil for no limit.
    /// - Returns: The reasons against those that are refused.
    /// - Throws: `LedgerError.newcomersLimited`.
    func record(
        of user: User,
        _ newcomers: NewcomerAllowance?,
        _ services: DoorServices
    ) async throws -> [AttributeFailure] {
        guard !attributes.isEmpty else { return errors }
        do {
            try await services.attributes.state(attributes, of: user, newcomers: newcomers)
        } catch let error as AttributeError {
            return errors + attributes.map { AttributeFailure(name: $0.name, message: error.message) }
        }
        return errors
    }
}
