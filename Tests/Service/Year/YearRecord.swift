/// The answers of the service at the end of the year, in lines.
///
/// A transaction has the name of its customer and a number: `anna.2`. Products have no `garden.`. A month and a day
/// denote noon of that day of 2027.
struct YearRecord: Sendable, Equatable {
    /// The states of subscriptions and the items on the last day of each month.
    var months: [String] = []
    /// The stories of the customers, oldest first.
    var stories: [String: String] = [:]
    /// The notifications in each story, without what depends on their delivery.
    var notifications: [String: [String]] = [:]
    var items: [String: String] = [:]
    var subscriptions: [String: String] = [:]
    var explanations: [String: String] = [:]
    /// The causes of the explanations of each customer and item on the last days of the months.
    var causes: [String: [String]] = [:]
    var balances: [String: String] = [:]
    /// All figures by month.
    var figures: [String] = []
    /// Some figures by month and product, or storefront.
    var breakdowns: [String] = []
    var unclaimed: [String] = []
    /// The types and subtypes of the notifications that the store has sent.
    var sent: Set<String> = []
}
