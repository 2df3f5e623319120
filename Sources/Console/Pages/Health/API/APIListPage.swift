/// The page with all operations of the API, by topic.
struct APIListPage {
    let operations: [APIOperation]

    var page: Page {
        Page(Phrase("API explorer", "API 탐색기"), section: .health) {
            HealthTabs.api.html
            p(.class("note")) {
                Phrase(
                    "The operations of this service, from its OpenAPI document. Operations of features that are off answer with "
                        + "404. The descriptions are in English.",
                    "이 서비스의 OpenAPI 문서에 있는 작업입니다. 꺼진 기능의 작업은 404로 응답합니다. 설명은 영어입니다.")
            }
            for topic in topics {
                h2 { plain(topic) }
                ul {
                    for operation in operations where operation.topic == topic {
                        li {
                            a(.href(ConsolePath("health", "api", operation.identifier))) {
                                code { plain(operation.method + " " + operation.path) }
                            }
                            plain(" ")
                            span(.class("note"), HTMLAttribute("lang", "en")) { data(operation.summary) }
                        }
                    }
                }
            }
        }
    }

    /// The topics in the order of their first operations.
    private var topics: [String] {
        var topics: [String] = []
        for operation in operations where !topics.contains(operation.topic) { topics.append(operation.topic) }
        return topics
    }
}
