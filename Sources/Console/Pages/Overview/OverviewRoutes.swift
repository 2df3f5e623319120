import Hummingbird

/// The first page: sales, customers and what happens now.
struct OverviewRoutes: Sendable {
    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("") { _, _ in
            Page(Phrase("Overview", "개요"), section: .overview) {
                p { Phrase("Till \(services.system.version)", "Till \(services.system.version)") }
            }
        }
    }
}
