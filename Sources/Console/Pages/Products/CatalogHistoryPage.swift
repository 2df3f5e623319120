import Catalog
import Features
import Proofs

/// The history of a product, or of an app's whole catalog.
struct CatalogHistoryPage {
    let context: ConsoleContext
    let apps: Apps
    let app: App
    /// The only product; nil for all.
    let productIdentifier: String?
    let revisions: [CatalogRevision]
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    let next: ConsolePath?

    var page: Page {
        Page(title, section: .products) {
            if let productIdentifier {
                p(.class("actions")) {
                    a(.class("button"), .href(ProductAddress(productIdentifier, in: app, of: apps).path())) {
                        Phrase("The product", "상품")
                    }
                }
            }
            if apps.all.count > 1 { p { Shown.identifier(app.bundleIdentifier) } }
            if revisions.isEmpty {
                p(.class("empty")) {
                    Phrase(
                        "No changes. The products are as the files define them.", "변경이 없습니다. 상품은 파일의 정의와 같습니다.")
                }
            } else {
                ol(.class("timeline")) { for revision in revisions { entry(revision) } }
            }
            Listing.pager(next)
        }
    }

    private var title: Phrase {
        guard let productIdentifier else { return Phrase("History of the catalog", "카탈로그 변경 기록") }
        return Phrase("History of \(productIdentifier)", "\(productIdentifier) 변경 기록")
    }

    private func entry(_ revision: CatalogRevision) -> HTML {
        let change = revision.change
        let address = ProductAddress(change.subject.identifier, in: app, of: apps)
        return li {
            p {
                strong { ProductWords.title(of: change.content.kind) }
                if productIdentifier == nil {
                    plain(" · ")
                    a(.href(address.path())) { data(change.subject.identifier) }
                }
                plain(" · ")
                Shown.moment(change.happenedAt)
                plain(" · ")
                ActorWords.html(caller: change.changedBy, keys)
                plain(" · ")
                a(.href(address.path("history", String(change.number)))) {
                    Phrase("Change \(change.number)", "변경 \(change.number)")
                }
            }
            CatalogChangePage.detail(of: revision)
        }
    }
}
