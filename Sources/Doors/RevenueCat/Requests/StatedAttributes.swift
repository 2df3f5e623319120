import Attributes
import Commerce

/// The attributes of a request: those that can be recorded, and the reasons against the others.
struct StatedAttributes: Sendable {
    private let attributes: [Attribute]
    private let errors: [AttributeFailure]

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

    /// The bytes that the attributes of a new customer take in the ledger, about.
    private var size: Int {
        attributes.reduce(NewcomerBudget.bytesOfCustomer) { size, attribute in
            size + 100 + attribute.name.utf8.count + (attribute.value?.utf8.count ?? 0)
        }
    }

    /// Records the attributes. Those of a customer without a purchase are dropped beyond the budget for strangers.
    ///
    /// - Parameter address: The client's address; nil for a caller without a budget.
    /// - Returns: The reasons against those that are refused.
    func record(of user: User, from address: String?, _ services: DoorServices) async throws -> [AttributeFailure] {
        guard !attributes.isEmpty else { return errors }
        if let address, try await !services.mayWrite(size, for: [user], from: address) { return errors }
        do { try await services.attributes.state(attributes, of: user) } catch let error as AttributeError {
            return errors + attributes.map { AttributeFailure(name: $0.name, message: error.message) }
        }
        return errors
    }
}
