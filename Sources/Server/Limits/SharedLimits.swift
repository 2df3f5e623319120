/// The limits that all requests share, and the addresses that they are counted by.
struct SharedLimits: Sendable {
    let addresses: ClientAddresses
    let bodies: BodyBudget
}
