/* Distribution functions that the tests need; only bench/stats includes this. */
#ifndef LB_DISTRIBUTION_H
#define LB_DISTRIBUTION_H

/* P(Z <= z) of the standard normal distribution, and its inverse for p in (0,1). */
double lb_normal_cdf(double z);
double lb_normal_quantile(double p);

/* Inverse of Student's t with df > 0 degrees of freedom, p in (0,1). */
double lb_t_quantile(double p, double df);

#endif
