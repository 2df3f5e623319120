/// The availability of an e-mail address for a new account.
package struct AvailabilityResource: Codable, Sendable {
    package let isAvailable: Bool
}
