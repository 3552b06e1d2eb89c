#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kServiceStatus;
extern const Message kLoadBalancerStatus;
extern const Message kLoadBalancerIngress;
extern const Message kPortStatus;
extern const Message kSessionAffinityConfig;
extern const Message kClientIpConfig;

namespace {

constexpr std::array<ListKey, 2> kPortKeys = {
    {{.name = "port"}, {.name = "protocol", .default_text = "\"TCP\""}}};

constexpr FieldTable kServicePortFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .description = "Name of the port within the Service, a DNS label. Needed when there are "
                    "several ports."},
    {.name = "protocol",
     .number = 2,
     .go_type = "v1.Protocol",
     .default_text = "\"TCP\"",
     .description = "TCP (the default), UDP or SCTP."},
    {.name = "appProtocol",
     .number = 6,
     .presence = Presence::kOmitNil,
     .description = "What is spoken over the port, as a hint to implementations: a name from "
                    "IANA's list, one that begins with kubernetes.io/, or one with a prefix of its "
                    "own such as example.com/protocol."},
    {.name = "port",
     .number = 3,
     .type = Type::kInt32,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The port on which the Service is reached."},
    {.name = "targetPort",
     .number = 4,
     .type = Type::kIntOrString,
     .presence = Presence::kAlways,
     .description = "The port of the Pods behind the Service: a number or the name of one of their "
                    "ports. Left out, it is the same as port."},
    {.name = "nodePort",
     .number = 5,
     .type = Type::kInt32,
     .description = "The port of every node on which the Service is reached, for types NodePort "
                    "and LoadBalancer. Left out, a free one is given; a number that is given must "
                    "be free and lie in the range of node ports."},
}));

constexpr FieldTable kClientIpConfigFields(std::to_array<Field>({
    {.name = "timeoutSeconds",
     .number = 1,
     .type = Type::kInt32,
     .presence = Presence::kOmitNil,
     .description = "For how many seconds a client keeps its Pod: more than 0, at most 86400 (one "
                    "day). The default is 10800 (three hours)."},
}));

constexpr FieldTable kSessionAffinityConfigFields(std::to_array<Field>({
    {.name = "clientIP",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kClientIpConfig,
     .description = "For session affinity ClientIP."},
}));

constexpr FieldTable kServiceSpecFields(std::to_array<Field>({
    {.name = "ports",
     .number = 1,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kServicePort,
     .list_kind = ListKind::kMap,
     .list_keys = kPortKeys,
     .patch_merge_key = "port",
     .patch_strategy = "merge",
     .description = "The ports of the Service, told apart by number and protocol. Only a headless "
                    "Service and one of type ExternalName may have none."},
    {.name = "selector",
     .number = 2,
     .shape = Shape::kMap,
     .atomic = true,
     .description = "The labels of the Pods that traffic goes to. Left empty, somebody else is "
                    "taken to provide the endpoints. Has no meaning for type ExternalName."},
    {.name = "clusterIP",
     .number = 3,
     .description = "The address of the Service inside the cluster. Left out, a free one is given; "
                    "one that is given must be free and lie in a service range. None makes the "
                    "Service headless: it has no address. Equals the first of clusterIPs."},
    {.name = "clusterIPs",
     .number = 18,
     .shape = Shape::kList,
     .description = "The addresses of the Service inside the cluster, at most one of each IP "
                    "family, in the order of ipFamilies."},
    {.name = "type",
     .number = 4,
     .go_type = "v1.ServiceType",
     .description = "How the Service is reached: ClusterIP (the default; inside the cluster), "
                    "NodePort (also on a port of every node), LoadBalancer (also through a load "
                    "balancer) or ExternalName (an alias in DNS, without address)."},
    {.name = "externalIPs",
     .number = 5,
     .shape = Shape::kList,
     .description = "Further addresses at which nodes take traffic for the Service. They are not "
                    "managed by Kubernetes."},
    {.name = "sessionAffinity",
     .number = 7,
     .go_type = "v1.ServiceAffinity",
     .description = "None (the default), or ClientIP: a client comes to the same Pod each time."},
    {.name = "loadBalancerIP",
     .number = 8,
     .description = "The address the load balancer is asked to have. Not all of them heed it, and "
                    "it is deprecated: use the annotations of the load balancer's maker."},
    {.name = "loadBalancerSourceRanges",
     .number = 9,
     .shape = Shape::kList,
     .description = "The networks, as CIDRs, from which the load balancer lets clients in, if it "
                    "can tell."},
    {.name = "externalName",
     .number = 10,
     .description = "For type ExternalName: the DNS name the Service is an alias of."},
    {.name = "externalTrafficPolicy",
     .number = 11,
     .go_type = "v1.ServiceExternalTrafficPolicy",
     .description = "Where a node sends traffic that comes from outside: Cluster (to any Pod) or "
                    "Local (to Pods on the same node, which see the address of the client)."},
    {.name = "healthCheckNodePort",
     .number = 12,
     .type = Type::kInt32,
     .description = "The port of every node that tells load balancers whether it has Pods for the "
                    "Service. For type LoadBalancer with external traffic policy Local. Left out, "
                    "a free one is given; cannot be changed afterwards."},
    {.name = "publishNotReadyAddresses",
     .number = 13,
     .type = Type::kBool,
     .description = "Whether Pods that are not ready count as endpoints, as peers of a StatefulSet "
                    "need it to find each other."},
    {.name = "sessionAffinityConfig",
     .number = 14,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kSessionAffinityConfig,
     .description =
         "For how long a client comes to the same Pod, when sessionAffinity is ClientIP."},
    {.name = "ipFamilies",
     .number = 19,
     .shape = Shape::kList,
     .go_type = "v1.IPFamily",
     .description = "The IP families of the Service, IPv4 or IPv6, in the order of clusterIPs. "
                    "Left out, they follow from ipFamilyPolicy and the service ranges. The second "
                    "may be added and removed later, the first cannot be changed."},
    {.name = "ipFamilyPolicy",
     .number = 17,
     .presence = Presence::kOmitNil,
     .go_type = "v1.IPFamilyPolicy",
     .description = "How many IP families are asked for: SingleStack (one), PreferDualStack (two "
                    "where the cluster has them) or RequireDualStack (two, or the Service is "
                    "refused)."},
    {.name = "allocateLoadBalancerNodePorts",
     .number = 20,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether a Service of type LoadBalancer is given node ports. The default is "
                    "true. With false, ports that are asked for by number are still taken."},
    {.name = "loadBalancerClass",
     .number = 21,
     .presence = Presence::kOmitNil,
     .description = "Which load balancer is to serve the Service, as a qualified name; left out, "
                    "it is the default one. Cannot be changed once set."},
    {.name = "internalTrafficPolicy",
     .number = 22,
     .presence = Presence::kOmitNil,
     .go_type = "v1.ServiceInternalTrafficPolicy",
     .description = "Where a node sends traffic for the cluster IP: Cluster (the default; to any "
                    "Pod) or Local (to Pods on the same node only)."},
    {.name = "trafficDistribution",
     .number = 23,
     .presence = Presence::kOmitNil,
     .description = "Which Pods are preferred when there is a choice, such as PreferSameZone or "
                    "PreferSameNode."},
}));

constexpr FieldTable kPortStatusFields(std::to_array<Field>({
    {.name = "port",
     .number = 1,
     .type = Type::kInt32,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The port of the Service."},
    {.name = "protocol",
     .number = 2,
     .presence = Presence::kAlways,
     .go_type = "v1.Protocol",
     .required = true,
     .description = "TCP, UDP or SCTP."},
    {.name = "error",
     .number = 3,
     .presence = Presence::kOmitNil,
     .description = "What is wrong with the port, as a CamelCase word or a qualified name. Left "
                    "out when nothing is."},
}));

constexpr FieldTable kLoadBalancerIngressFields(std::to_array<Field>({
    {.name = "ip", .number = 1, .description = "The address of a load balancer that has one."},
    {.name = "hostname",
     .number = 2,
     .description = "The DNS name of a load balancer that has one."},
    {.name = "ipMode",
     .number = 3,
     .presence = Presence::kOmitNil,
     .go_type = "v1.LoadBalancerIPMode",
     .description = "How traffic to ip arrives: VIP (addressed to ip) or Proxy (addressed to the "
                    "node or Pod)."},
    {.name = "ports",
     .number = 4,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kPortStatus,
     .description = "What became of each port of the Service."},
}));

constexpr FieldTable kLoadBalancerStatusFields(std::to_array<Field>({
    {.name = "ingress",
     .number = 1,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kLoadBalancerIngress,
     .description = "Where the load balancer takes traffic for the Service."},
}));

constexpr FieldTable kServiceStatusFields(std::to_array<Field>({
    {.name = "loadBalancer",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kLoadBalancerStatus,
     .description = "The state of the load balancer, if there is one."},
    {.name = "conditions",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kCondition,
     .list_kind = ListKind::kMap,
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "The present state, aspect by aspect."},
}));

constexpr FieldTable kServiceFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    TopField("spec", 2, kServiceSpec, "What the Service asks for."),
    TopField("status", 3, kServiceStatus, kStatusDescription),
}));

}  // namespace

constexpr Message kServicePort{.openapi_name = "io.k8s.api.core.v1.ServicePort",
                               .description = "One port of a Service.",
                               .fields = kServicePortFields.fields,
                               .by_number = kServicePortFields.by_number,
                               .by_name = kServicePortFields.by_name};

constexpr Message kClientIpConfig{.openapi_name = "io.k8s.api.core.v1.ClientIPConfig",
                                  .description = "The settings of session affinity ClientIP.",
                                  .fields = kClientIpConfigFields.fields,
                                  .by_number = kClientIpConfigFields.by_number,
                                  .by_name = kClientIpConfigFields.by_name};

constexpr Message kSessionAffinityConfig{.openapi_name = "io.k8s.api.core.v1.SessionAffinityConfig",
                                         .description = "The settings of session affinity.",
                                         .fields = kSessionAffinityConfigFields.fields,
                                         .by_number = kSessionAffinityConfigFields.by_number,
                                         .by_name = kSessionAffinityConfigFields.by_name};

constexpr Message kServiceSpec{
    .openapi_name = "io.k8s.api.core.v1.ServiceSpec",
    .description = "Which Pods a Service leads to, and by which addresses and ports.",
    .fields = kServiceSpecFields.fields,
    .by_number = kServiceSpecFields.by_number,
    .by_name = kServiceSpecFields.by_name};

constexpr Message kPortStatus{.openapi_name = "io.k8s.api.core.v1.PortStatus",
                              .description = "What became of one port at a load balancer.",
                              .fields = kPortStatusFields.fields,
                              .by_number = kPortStatusFields.by_number,
                              .by_name = kPortStatusFields.by_name};

constexpr Message kLoadBalancerIngress{
    .openapi_name = "io.k8s.api.core.v1.LoadBalancerIngress",
    .description = "One point at which a load balancer takes traffic.",
    .fields = kLoadBalancerIngressFields.fields,
    .by_number = kLoadBalancerIngressFields.by_number,
    .by_name = kLoadBalancerIngressFields.by_name};

constexpr Message kLoadBalancerStatus{
    .openapi_name = "io.k8s.api.core.v1.LoadBalancerStatus",
    .description = "The points at which a load balancer takes traffic.",
    .fields = kLoadBalancerStatusFields.fields,
    .by_number = kLoadBalancerStatusFields.by_number,
    .by_name = kLoadBalancerStatusFields.by_name};

constexpr Message kServiceStatus{.openapi_name = "io.k8s.api.core.v1.ServiceStatus",
                                 .description = "The present state of a Service.",
                                 .fields = kServiceStatusFields.fields,
                                 .by_number = kServiceStatusFields.by_number,
                                 .by_name = kServiceStatusFields.by_name};

constexpr Message kService{
    .openapi_name = "io.k8s.api.core.v1.Service",
    .description =
        "A name for something that Pods offer, with an address and ports that stay the "
        "same while the Pods come and go.",
    .fields = kServiceFields.fields,
    .by_number = kServiceFields.by_number,
    .by_name = kServiceFields.by_name};

}  // namespace berth::api
