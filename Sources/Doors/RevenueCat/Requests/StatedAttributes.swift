import Attributes
import Commerce
import Entitlements

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

    /// The bytes that the attributes take in the ledger, about.
    private var size: Int {
        attributes.reduce(0) { $0 + 100 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) }
    }

    /// Takes the bytes of the attributes from the allowance, unless the customer has a purchase.
    ///
    /// - Returns: Nil if they may be recorded, otherwise the seconds until they may be.
    func secondsToWait(
        of user: User,
        _ newcomers: NewcomerAllowance?,
        _ services: DoorServices
    ) async throws -> Int? {
        guard let newcomers, !attributes.isEmpty else { return nil }
        let (isKnown, hasPurchases) = try await services.entitlements.ledger.read(.snapshot) {
            (try $0.number(of: user) != nil, try $0.hasPurchases(user))
        }
        if hasPurchases { return nil }
        return newcomers.take(size + (isKnown ? 0 : NewcomerAllowance.bytes(ofUserNamed: user)))
    }

    /// Records the attributes.
    ///
    /// - Returns: The reasons against those that are refused.
    func record(of user: User, _ services: DoorServices) async throws -> [AttributeFailure] {
        guard !attributes.isEmpty else { return errors }
        do { try await services.attributes.state(attributes, of: user) } catch let error as AttributeError {
            return errors + attributes.map { AttributeFailure(name: $0.name, message: error.message) }
        }
        return errors
    }
}
